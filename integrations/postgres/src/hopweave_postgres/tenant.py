"""What a tenant may see of the nodes and edges that are read, and which documents state them."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph_store.backend import (
    BACKWARD,
    HIDDEN,
    IMPORTED,
    MENTION,
    SHOWN,
    UNKNOWN,
    Array,
    Indices,
    Mask,
    Value,
    passage_id,
)
from hopweave_postgres.arrays import SqlType, packed, unpacked
from hopweave_postgres.connections import Connections, Rows

OF_NUMBERS = "SELECT unnest(%s::int[])"
OF_NAMES = "SELECT id FROM nodes WHERE name_key = ANY(%s) AND (flags & 8) > 0 AND id < %s"
OF_KEYS = "SELECT id FROM nodes WHERE key = ANY(%s) AND (flags & 8) > 0 AND id < %s"
"""Which nodes are meant: by number; by name, below the size of the graph; by key, below the size of the graph."""

_DOCUMENT = (  # as in `TenantView`
    "coalesce({0}::json ->> 3, "
    f"regexp_replace(substring({{0}}::json ->> 0 FROM '^{passage_id('')}(.*)$'), '^{IMPORTED}', ''))"
)
_ONE = "coalesce(min(document) FILTER (WHERE is_shown), min(document)) AS document"
_FACTS = f"""
WITH asked AS MATERIALIZED ({{source}}), e AS MATERIALIZED (
    SELECT e.src, e.dst, e.code FROM asked AS s (id)
    CROSS JOIN LATERAL (SELECT * FROM edges WHERE src = s.id ORDER BY dst, code, weight LIMIT %s) e
), statements AS MATERIALIZED (
    SELECT s.* FROM (
        SELECT DISTINCT CASE WHEN (code & 2) > 0 THEN dst ELSE src END AS a,
            CASE WHEN (code & 2) > 0 THEN src ELSE dst END AS b, code / 4 AS type FROM e WHERE (code & 1) = 0
    ) w CROSS JOIN LATERAL (
        SELECT start_node, end_node, type, document FROM stated
        WHERE start_node = w.a AND end_node = w.b AND type = w.type OFFSET 0
    ) s
), declarations AS MATERIALIZED (
    SELECT d.* FROM asked AS s (id)
    CROSS JOIN LATERAL (SELECT node, document FROM declared WHERE node = s.id OFFSET 0) d
), owners AS MATERIALIZED (
    SELECT n.id, {_DOCUMENT.format("n.description")} AS document FROM (
        SELECT id, true FROM asked AS s (id) UNION SELECT dst, true FROM e
        UNION SELECT document, false FROM statements UNION SELECT document, false FROM declarations
    ) a (id, is_end)
    CROSS JOIN LATERAL (SELECT id, kind, description FROM nodes WHERE id = a.id OFFSET 0) n
    WHERE n.kind = %s OR NOT a.is_end
), shown AS MATERIALIZED (
    SELECT DISTINCT owners.id, coalesce(d.is_shown, false) AS is_shown FROM owners LEFT JOIN LATERAL (
        SELECT {{condition}} AS is_shown FROM documents WHERE documents.id = owners.document OFFSET 0
    ) d ON true
)
SELECT * FROM (SELECT {packed("id", "is_shown::int::int2")} FROM shown) a, (
    SELECT {packed("start_node", "end_node", "type", "document")} FROM (
        SELECT start_node, end_node, type, {_ONE}
        FROM statements LEFT JOIN shown ON shown.id = document GROUP BY start_node, end_node, type
    ) s
) b, (
    SELECT {packed("id", "document")} FROM (
        SELECT s.id, {_ONE} FROM asked AS s (id) LEFT JOIN declarations ON node = s.id
        LEFT JOIN shown ON shown.id = document GROUP BY s.id
    ) d WHERE document IS NOT NULL
) c, (SELECT {packed("id")} FROM asked AS s (id)) d
"""
"""The facts about nodes, so many edges of each, and what these lead to: besides, the kind of passages.

Which documents are visible; of each edge that is stated and each node that is declared one document that does so, if
possible a visible one. OFFSET 0 makes the server look up what is reached, where it might read whole tables.
"""
_COLUMNS = ("int4", "int2", "int4", "int4", "int2", "int4", "int4", "int4", "int4")
NOT_READ = -2


class TenantFacts:
    """What is known of what one tenant may see, for one question; `TenantView` decides by it.

    `states` are those of `TenantView`: which documents are visible.
    """

    def __init__(self, condition: str, values: Sequence[Any]) -> None:
        """`condition` is one on the metadata of documents, with the values to bind."""
        self._condition, self._values = condition, list(values)
        self.states: npt.NDArray[np.uint8] = np.zeros(0, np.uint8)
        self._edges: dict[tuple[int, int, int], int] = {}
        self._nodes: dict[int, int] = {}

    def statement(self, source: str, nodes: Sequence[Any], max_edges: int, passage_kind: int) -> tuple[str, list[Any]]:
        """The statement that goes along with one that reads these nodes and so many edges of each."""
        query = _FACTS.format(source=source, condition=self._condition)
        return query, [*nodes, max_edges, passage_kind, *self._values]

    def keep(self, found: Rows) -> None:
        """Keep what the statement has found, unless it was known before: a question sees a document or does not."""
        columns = zip(found[0], _COLUMNS, strict=True)
        owners, is_shown, *facts = (unpacked(one, cast(SqlType, kind)) for one, kind in columns)
        in_version = owners < len(self.states)
        owners, is_shown = owners[in_version], is_shown[in_version]
        new = self.states[owners] == UNKNOWN
        self.states[owners[new]] = np.where(is_shown[new] > 0, SHOWN, HIDDEN)
        starts, ends, types, documents, nodes, declaring, asked = (column.tolist() for column in facts)
        for start, end, type_, document in zip(starts, ends, types, documents, strict=True):
            self._edges.setdefault((start, end, type_), document)
        declared = dict(zip(nodes, declaring, strict=True))
        for node in asked:
            self._nodes.setdefault(node, declared.get(node, -1))

    def documents_of_edges(self, sources: Indices, targets: Indices, types: Indices) -> Indices:
        """A document that states each of these edges; `NOT_READ` where that is not known."""
        edges = zip(sources.tolist(), targets.tolist(), types.tolist(), strict=True)
        return np.array([self._edges.get(edge, NOT_READ) for edge in edges], np.int64)

    def documents_of_nodes(self, nodes: Indices) -> Indices:
        """A document that declares each of these nodes, -1 if none does; `NOT_READ` where that is not known."""
        return np.array([self._nodes.get(node, NOT_READ) for node in nodes.tolist()], np.int64)


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
