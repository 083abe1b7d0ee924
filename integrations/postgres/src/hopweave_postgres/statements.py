"""Which documents state what, in a graph in PostgreSQL."""

from collections.abc import Callable, Hashable
from typing import Protocol

import numpy as np

from hopweave.graph_store.backend import BACKWARD, MENTION, Array, Indices, Mask, Value
from hopweave_postgres.connections import Connections
from hopweave_postgres.tenant import NOT_READ, TenantFacts

_STATED = """
SELECT w.place, s.document FROM unnest(%s::int[], %s::int[], %s::int[], %s::int[]) AS w (place, a, b, type)
JOIN stated s ON s.start_node = w.a AND s.end_node = w.b AND s.type = w.type
"""
_DECLARED = """
SELECT w.place, d.document FROM unnest(%s::int[], %s::int[]) AS w (place, node) JOIN declared d ON d.node = w.node
"""


class _Graph(Protocol):
    size: int
    rows_read: int

    def read_entries(self) -> tuple[Array, Array, Array]: ...

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value: ...


class PostgresStatements:
    """The documents behind edges and nodes that are stated outright; see `Statements`.

    What was read along with the edges for a tenant is not asked for again; then one document stands for all that state
    the same, a visible one if there is one.
    """

    def __init__(self, connections: Connections, graph: _Graph, facts: TenantFacts | None = None) -> None:
        self._connections, self._graph, self._facts = connections, graph, facts

    def documents_of_edges(self, sources: Indices, targets: Indices, types: Indices) -> tuple[Indices, Indices]:
        """Which of these edges a document states, and that document; an edge comes once for each of its documents."""
        places = np.flatnonzero(self._is_stated(sources, targets, types))
        columns = (sources[places], targets[places], types[places])
        known = None if self._facts is None else self._facts.documents_of_edges(*columns)
        return self._pairs(_STATED, known, places, *columns)

    def documents_of_nodes(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Which of these nodes a document declares, and that document; a node comes once for each of its documents."""
        known = None if self._facts is None else self._facts.documents_of_nodes(nodes)
        return self._pairs(_DECLARED, known, np.arange(len(nodes)), nodes)

    def _is_stated(self, sources: Indices, targets: Indices, types: Indices) -> Mask:
        """Which of these edges, all of which were read, are more than mentions."""
        graph = self._graph
        stated = graph.cached(("stated", graph.rows_read), lambda: _stated(*graph.read_entries()))
        keys = zip(sources.tolist(), targets.tolist(), types.tolist(), strict=True)
        return np.array([key in stated for key in keys], np.bool_)

    def _pairs(self, query: str, known: Indices | None, *columns: Indices) -> tuple[Indices, Indices]:
        """Places and documents, which are the first of the columns, and those that are known already."""
        rows: list[tuple[int, ...]] = []
        if known is not None:
            rows = list(zip(columns[0].tolist(), known.tolist(), strict=True))
            columns = tuple(column[known == NOT_READ] for column in columns)
        if len(columns[0]):
            rows += self._connections.read(query, [column.tolist() for column in columns])
        rows = sorted(row for row in rows if NOT_READ < row[1] < self._graph.size)
        return np.array([place for place, _ in rows], np.int64), np.array([one for _, one in rows], np.int64)


def _stated(sources: Array, targets: Array, codes: Array) -> set[tuple[int, int, int]]:
    """The edges that are more than mentions: source, target and type."""
    stated = codes & MENTION == 0
    rows = (column[stated].tolist() for column in (sources, targets, codes))
    return {
        (target, source, code // 4) if code & BACKWARD else (source, target, code // 4)
        for source, target, code in zip(*rows, strict=True)
    }
