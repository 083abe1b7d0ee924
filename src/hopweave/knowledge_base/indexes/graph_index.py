"""The graph of the documents, which follows the ledger of contributions."""

import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np

from hopweave.errors import InvalidImage
from hopweave.graph.build.changes import apply
from hopweave.graph.storage import ledger, tables
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph.storage.tables import GraphTables
from hopweave.knowledge_base.indexes.images import ImageFolder, Noted
from hopweave.knowledge_base.indexes.live_index import Held, LiveIndex
from hopweave.sources.pagerank import PageRank
from hopweave.storage.images import Array, Image
from hopweave.storage.strings import string_hash


class LiveGraph(LiveIndex[TableGraph]):
    """The graph over its tables. Following changes the tables; graphs that were handed out keep the edges they had."""

    format_version = tables.FORMAT
    writable = True
    private = True

    def __init__(self) -> None:
        super().__init__("graph")

    def empty(self) -> TableGraph:
        """No documents."""
        return TableGraph(GraphTables())

    def opened(self, image: Image) -> TableGraph:
        """Mapped tables."""
        try:
            return TableGraph(GraphTables(image.header, image.arrays))
        except (KeyError, ValueError, IndexError) as error:
            raise InvalidImage(f"image of the graph: {error!r}") from error

    def can_follow(self, held: Held[TableGraph], connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - its shape
        """Not if a change was interrupted halfway."""
        return held.value.tables.is_whole

    def followed(self, held: Held[TableGraph], connection: sqlite3.Connection) -> tuple[TableGraph, int]:
        """The contributions that are new, and those that are gone."""
        changes = ledger.changes(connection, held.position)
        if held.value.version and not changes.current and not changes.gone and not changes.whole:
            return held.value, changes.sequence
        followed = GraphTables() if changes.whole else held.value.tables
        if changes.current or changes.gone:
            # from nothing, documents are numbered by id, so that equal contents give equal scores to the last digit
            apply(followed, changes.current, changes.gone)
        version = int(connection.execute("SELECT version FROM state").fetchone()[0])
        return TableGraph(followed, version), changes.sequence

    def for_image(self, version: int, connection: sqlite3.Connection, folder: ImageFolder) -> Held[TableGraph]:
        """From nothing if words or names of documents that are gone are left: no image may keep them."""
        held = super().for_image(version, connection, folder)
        if held.value.tables.has_leftovers:
            value, position = self.followed(Held(self.empty(), 0, 0), connection)
            return Held(value, version, position)
        return held

    def arrays(self, value: TableGraph) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """The tables, with the stationary distribution that PageRank uses."""
        PageRank().prepare(value)
        return value.tables.image()

    def size(self, value: TableGraph) -> int:
        """Documents."""
        return value.tables.documents

    def changes(self, connection: sqlite3.Connection, image: Noted | None) -> int:
        """Entries of the ledger that were written since the image."""
        return ledger.last_sequence(connection) - (image.position if image else 0)

    def same(self, one: TableGraph, other: TableGraph) -> bool:
        """Whether they have the same nodes and edges, however these are numbered."""
        mine, others = _by_id(one), _by_id(other)
        return all(np.array_equal(a, b) for a, b in zip(mine[:-1], others[:-1], strict=True)) and np.allclose(
            mine[-1], others[-1], rtol=1e-9
        )


def _by_id(graph: TableGraph) -> tuple[Array, ...]:
    """The hashes of ids in order, and edges as source, target, type and weight in the order of such hashes."""
    nodes = np.array([string_hash(id_) for id_ in graph.ids], np.uint64)
    edges = graph.adjacency("out")
    sources = nodes[np.repeat(np.arange(graph.size), np.diff(edges.indptr))]
    types = np.array([string_hash(name) for name in (*graph.edge_types, "")], np.uint64)[edges.types]
    order = np.lexsort((types, nodes[edges.targets], sources))
    there = np.array([bool(id_) for id_ in graph.ids], np.bool_)
    return np.sort(nodes[there]), sources[order], nodes[edges.targets][order], types[order], edges.weights[order]
