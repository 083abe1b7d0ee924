"""Which documents state what, in a graph in PostgreSQL."""

from typing import Protocol

import numpy as np

from hopweave.graph.port import Indices, Mask
from hopweave.graph_store.postgres.connections import Connections

_STATED = """
SELECT w.place, s.document FROM unnest(%s::int[], %s::int[], %s::int[], %s::int[]) AS w (place, a, b, type)
JOIN stated s ON s.start_node = w.a AND s.end_node = w.b AND s.type = w.type
"""
_DECLARED = """
SELECT w.place, d.document FROM unnest(%s::int[], %s::int[]) AS w (place, node) JOIN declared d ON d.node = w.node
"""


class _Graph(Protocol):
    size: int

    def is_mention(self, sources: Indices, targets: Indices, types: Indices) -> Mask: ...


class PostgresStatements:
    """The documents behind edges and nodes that are stated outright; see `Statements`."""

    def __init__(self, connections: Connections, graph: _Graph) -> None:
        self._connections, self._graph = connections, graph

    def documents_of_edges(self, sources: Indices, targets: Indices, types: Indices) -> tuple[Indices, Indices]:
        """Which of these edges a document states, and that document; an edge comes once for each of its documents."""
        places = np.flatnonzero(~self._graph.is_mention(sources, targets, types))
        columns = (places, sources[places], targets[places], types[places])
        return self._pairs(_STATED, *(column.tolist() for column in columns))

    def documents_of_nodes(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Which of these nodes a document declares, and that document; a node comes once for each of its documents."""
        return self._pairs(_DECLARED, list(range(len(nodes))), nodes.tolist())

    def _pairs(self, query: str, *columns: list[int]) -> tuple[Indices, Indices]:
        rows = self._connections.read(query, columns) if columns[0] else []
        rows = sorted(row for row in rows if row[1] < self._graph.size)
        return np.array([place for place, _ in rows], np.int64), np.array([one for _, one in rows], np.int64)
