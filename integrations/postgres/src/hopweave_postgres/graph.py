"""A graph in PostgreSQL as algorithms see it, for one question: rows are read when a walk reaches them."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, cast

import numpy as np

from hopweave.graph_store.backend import (
    FILE_NAME,
    MAX_SHARED,
    MIN_SHARED,
    Array,
    Column,
    Floats,
    GraphTimeout,
    Indices,
    Mask,
    Node,
    RowEdges,
    Shown,
    Statements,
    States,
    StationaryDistribution,
    Value,
    shown_keys,
)
from hopweave_postgres.arrays import LookedUpFlags, packed, unpacked
from hopweave_postgres.connections import Connections, Rows
from hopweave_postgres.edges import (
    EDGES,
    EDGES_AND_NEAR,
    EDGES_OF_NAMES,
    NODE_COLUMNS,
    NOTHING_NEAR,
    NearWords,
    content_words,
    edge_columns,
    near_rows,
)
from hopweave_postgres.names import PostgresNames, stored_keys
from hopweave_postgres.schema import is_storable
from hopweave_postgres.tenant import OF_KEYS, OF_NAMES, OF_NUMBERS, PostgresStatements, TenantFacts
from hopweave_postgres.trigrams import EXTENSION_SCHEMA

_KNOWN, _PASSAGE, _TOPIC, _READ = 1, 2, 4, 8
_INFO = np.dtype(
    [("flags", "u1"), ("passages", "<i4"), ("ends", "<i4"), ("edges", "<i4"), ("start", "<i8"), ("length", "<i4")]
)
_ABOUT = "id, kind, topic::int, passages, edge_ends, edges"
_NODES = (
    f"SELECT {packed('id', 'kind', 'topic::int::int2', 'passages', 'edge_ends', 'edges')} FROM nodes WHERE id = ANY(%s)"
)
_FOUND = f"SELECT key, {_ABOUT} FROM nodes WHERE key = ANY(%s) AND (flags & 8) > 0 AND id < %s"
_NAMED = (
    f"SELECT name_key, description, {_ABOUT} FROM nodes WHERE name_key = ANY(%s) AND (flags & 8) > 0 "
    "AND id < %s ORDER BY key"
)


class PostgresGraph(RowEdges):
    """The graph in a database, which implements `GraphPort`; make one for every question.

    What has been read is kept, so no row is read twice for a question. Each statement sees the graph as it is when
    it is sent: a document that is written meanwhile may be seen by the later ones.
    """

    def __init__(
        self,
        connections: Connections,
        max_edges: int,
        shared: dict[Hashable, Any],
        tenant: TenantFacts | None = None,
    ) -> None:
        """At most `max_edges` edges of one node are read; `shared` keeps work space for the next question.

        `tenant` takes what one tenant may see of all that is read, in the same round trips.
        """
        row = connections.read(
            "SELECT version, nodes, documents, names, passages, kinds, edge_types, settings, "
            f"{EXTENSION_SCHEMA} FROM state"
        )[0]
        self.version, self.size, self._documents, names, self._passages = row[:5]
        self._passage_kind = row[5].index("passage") if "passage" in row[5] else -1
        self.edge_types = tuple(row[6])
        self._dead_end_share = float(row[7].get("dead_end_share", 0.1))
        self._connections, self._max_edges, self._shared = connections, max_edges, shared
        self._names = PostgresNames(connections, names, row[8])
        self._info = np.zeros(self.size, _INFO)
        self._targets, self._codes = Column(np.empty(0, np.int32)), Column(np.empty(0, np.int16))
        self._weights = Column(np.empty(0, np.float64))
        self._nodes: dict[int, Node] = {}
        self._found: dict[str, int] = {}
        self._cache: dict[Hashable, Any] = {}
        self._expected: Array = np.empty(0, np.int64)
        self._near: NearWords | None = None
        self._words_expected: list[str] = []
        self.rows_read, self.truncated = 0, False
        self._tenant = tenant
        if tenant is not None:
            tenant.states = np.zeros(self.size, np.uint8)

    def __repr__(self) -> str:
        return f"PostgresGraph({self._connections.where!r}, size={self.size}, version={self.version})"

    @property
    def tenant_states(self) -> States | None:
        """What is known of what the tenant may see, which grows with what is read; None without a tenant."""
        return None if self._tenant is None else self._tenant.states

    def _read_with_tenant(
        self, source: str, nodes: Sequence[Any], max_edges: int, *statements: tuple[str, Sequence[Any]]
    ) -> list[Rows]:
        """The rows of statements about nodes, and in the same round trip what the tenant may see of these."""
        if self._tenant is None:
            return self._connections.read_together(*statements)
        facts = self._tenant.statement(source, nodes, max_edges, self._passage_kind)
        *found, visible = self._connections.read_together(*statements, facts)
        self._tenant.keep(visible)
        return found

    # Edges

    def edge_rows(self) -> "PostgresGraph":
        """The graph itself: it reads the edges of nodes when they are asked for."""
        return self

    read_ahead = 0.2

    def expect(self, nodes: Indices) -> None:
        """Read these nodes along with the next that are needed, to save a round trip later."""
        self._expected = np.asarray(nodes, np.int64)

    def is_read(self, nodes: Indices) -> Mask:
        """Which of these nodes can be asked for without a round trip."""
        return np.asarray(self._info["flags"][nodes] & _READ > 0)

    def edge_counts(self, nodes: Indices) -> Indices:
        """How many edges each of these nodes has, both ways."""
        return self._about(nodes)["edges"]

    def stationary_distribution_of(self, key: str, make: Callable[[], StationaryDistribution | None]) -> None:
        """It is not known: it would take the whole graph."""

    def all_edges(self) -> None:
        """None: edges are read for the nodes that are reached."""

    def _gather(self, nodes: Array) -> tuple[Array, Sequence[Array]]:
        nodes = np.asarray(nodes, np.int64)
        missing = nodes[self._info["flags"][nodes] & _READ == 0]
        if len(missing):
            ahead, self._expected = self._expected, self._expected[:0]
            self._read_edges(np.concatenate([missing, ahead[self._info["flags"][ahead] & _READ == 0]]))
        starts, lengths = self._info["start"][nodes], self._info["length"][nodes]
        ends = np.cumsum(lengths, dtype=np.int64)
        positions = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
        return lengths, [column.values[positions] for column in (self._targets, self._codes, self._weights)]

    def _rarity_of(self, nodes: Array) -> Floats:
        """As `GraphTables.rarity`, for some nodes."""
        known = self._about(np.asarray(nodes, np.int64))
        passages = known["passages"]
        rarity = np.where(passages > 0, 1 / np.log(2.0 + passages), 1.0)
        rarity[(passages == 1) & (known["ends"] == 0)] *= self._dead_end_share
        return rarity

    def _read_edges(self, nodes: Array) -> None:
        nodes = np.unique(nodes)
        if not len(nodes):
            return
        self._about(nodes)
        numbers = nodes.astype(np.int32)
        if self._near is None or not len(self._near.frequent):
            statement = EDGES, [numbers, self._max_edges]
            self._keep_edges(nodes, self._read_with_tenant(OF_NUMBERS, [numbers], self._max_edges, statement)[0])
            return
        statement = EDGES_AND_NEAR, [numbers, self._max_edges, self._passage_kind, self._near.frequent]
        try:
            found = self._read_with_tenant(OF_NUMBERS, [numbers], self._max_edges, statement)[0]
        except GraphTimeout:  # a walk without a bias to these words is better than none
            self._give_up_words(self._near.words)
            self._read_edges(nodes)
            return
        self._keep_edges(nodes, found)
        near = near_rows(found)
        self.rows_read += len(near.word)
        self._near.add(near)

    def _keep_edges(self, nodes: Array, found: Rows) -> None:
        """Keep the edges of nodes, which are in order, as a statement has found them."""
        source, target, code, weight, copies, about = edge_columns(found)
        self.rows_read += len(source)
        self._note(target, about)
        order = np.lexsort((weight, code, target, source))
        order = order[target[order] < self.size]  # nodes that were added meanwhile are not in this version
        order = order[np.isin(source[order], nodes)]
        order = np.repeat(order, copies[order])
        first = self._targets.append(target[order])
        self._codes.append(code[order])
        self._weights.append(weight[order])
        lengths = np.bincount(np.searchsorted(nodes, source[order]), minlength=len(nodes))
        self._info["start"][nodes] = first + np.cumsum(lengths) - lengths
        self._info["length"][nodes] = lengths
        self._info["flags"][nodes] |= _READ
        self.truncated |= bool((lengths >= self._max_edges).any())

    def _about(self, nodes: Indices) -> Array:
        """What is known of nodes, which is read for those that no edge has led to."""
        unknown = nodes[self._info["flags"][nodes] & _KNOWN == 0]
        if len(unknown):
            content = self._connections.read(_NODES, [np.unique(unknown)])[0]
            kinds = ("int4", *NODE_COLUMNS.values())
            ids, *about = (unpacked(one, cast(Any, kind)) for one, kind in zip(content, kinds, strict=True))
            self._note(ids, about)
            self._info["flags"][unknown] |= _KNOWN  # even if it is gone
        return self._info[nodes]

    def _note_rows(self, rows: Sequence[tuple[int, ...]]) -> None:
        if rows:
            nodes, *about = (np.array(column, np.int64) for column in zip(*rows, strict=True))
            self._note(nodes, about)

    def _note(self, nodes: Array, about: Sequence[Array]) -> None:
        kept = nodes < self.size  # nodes that were added meanwhile are not in this version
        kind, topic, passages, ends, edges = (column[kept] for column in about)
        nodes = nodes[kept]
        is_passage = kind == self._passage_kind
        self._info["flags"][nodes] |= (_KNOWN | _PASSAGE * is_passage | _TOPIC * (topic > 0)).astype(np.uint8)
        self._info["passages"][nodes], self._info["ends"][nodes] = passages, ends
        self._info["edges"][nodes] = edges

    # Nodes

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes."""
        wanted = np.asarray(indices).tolist()
        new = [number for number in dict.fromkeys(wanted) if number not in self._nodes]
        if new:
            # paths are described next, and they go over entities whose edges were read
            passed = np.flatnonzero((self._info["flags"] & (_READ | _PASSAGE)) == _READ).tolist()
            new += [number for number in passed if number not in self._nodes]
            new = list(dict.fromkeys(new))
            rows = self._connections.read("SELECT id, description FROM nodes WHERE id = ANY(%s)", [new])
            self._nodes.update({number: Node("", "", "") for number in new})
            for number, text in rows:
                self._describe(number, text)
        return [self._nodes[number] for number in wanted]

    def _describe(self, number: int, description: str) -> None:
        node = self._nodes[number] = Node(*json.loads(description))
        self._found[node.id] = number

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids; ids that do not exist are left out."""
        wanted = list(dict.fromkeys(ids))
        keys = {id_: stored_keys(id_) for id_ in wanted if id_ not in self._found and is_storable(id_)}
        if keys:
            asked = [[key for group in keys.values() for key in group], self.size]
            rows = self._found_with_words(asked)
            self._note_rows([row[1:] for row in rows])
            found = {row[0]: row[1] for row in rows}
            for id_, group in keys.items():
                self._found[id_] = next((found[key] for key in group if key in found), -1)
        return {id_: number for id_ in wanted if (number := self._found.get(id_, -1)) >= 0}

    def _found_with_words(self, asked: list[Any]) -> Rows:
        """The nodes with some keys, and in the same round trip the names next to the words that are expected."""
        words, self._words_expected = self._words_expected, []
        if words:
            near = NearWords.statement(words, self._entities_known())
            try:
                rows, found = self._read_with_tenant(OF_KEYS, asked, 0, (_FOUND, asked), near)
            except GraphTimeout:
                self._give_up_words(words)
            else:
                self._keep_near(words, found)
                return rows
        return self._read_with_tenant(OF_KEYS, asked, 0, (_FOUND, asked))[0]

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes whose names have these word keys (`word_key`), of whatever kind; unknown keys are left out."""
        known: dict[str, tuple[int, ...]] = self.cached("lookup", dict)
        wanted = [key for key in dict.fromkeys(keys) if is_storable(key)]
        new = [key for key in wanted if key not in known]
        if new:
            # whoever asks for names asks for their edges next
            asked = [new, self.size]
            rows, edges = self._read_with_tenant(
                OF_NAMES, asked, self._max_edges, (_NAMED, asked), (EDGES_OF_NAMES, [*asked, self._max_edges])
            )
            known.update(dict.fromkeys(new, ()))
            self._note_rows([row[2:] for row in rows])
            for key, description, number, *_ in rows:
                known[key] = (*known[key], number)
                self._describe(number, description)
            self._keep_edges(np.array(sorted(row[2] for row in rows), np.int64), edges)
        return {key: known[key] for key in wanted if known[key]}

    def nearest_names(
        self, spans: Sequence[Sequence[str]], min_similarity: float, shown: Shown | None = None
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """For each span of casefolded words, the nodes with the most similar name, and the similarity in [0, 1]."""
        spans = [[word for word in words if is_storable(word)] for words in spans]
        keys = None if shown is None else shown_keys(self._nodes_named, shown)
        found = self._names.nearest_of_each(spans, min_similarity, keys)
        nodes = self.lookup(nearest[0] for nearest in found if nearest is not None)
        return [None if one is None or one[0] not in nodes else (nodes[one[0]], one[1]) for one in found]

    def _nodes_named(self, keys: Sequence[str]) -> list[tuple[int, ...]]:
        found = self.lookup(keys)
        return [found.get(key, ()) for key in keys]

    def nodes_of_kind(self, kind: str) -> LookedUpFlags:
        """Which nodes are of this kind."""
        if kind == "passage":
            return LookedUpFlags(lambda nodes: np.asarray(self._about(nodes)["flags"] & _PASSAGE > 0))
        return LookedUpFlags(lambda nodes: np.array([node.kind == kind for node in self.nodes(nodes)], np.bool_))

    def targets_of_type(self, edge_type: str) -> LookedUpFlags:
        """To which nodes an edge of this type leads."""
        if edge_type == "about":
            return LookedUpFlags(lambda nodes: np.asarray(self._about(nodes)["flags"] & _TOPIC > 0))
        code = self.edge_types.index(edge_type) if edge_type in self.edge_types else -1

        def is_target(nodes: Indices) -> Mask:
            found = self.neighbours(nodes, "in")
            places = np.repeat(np.arange(len(nodes)), np.diff(found.offsets))
            return np.asarray(np.bincount(places[found.types == code], minlength=len(nodes)) > 0)

        return LookedUpFlags(is_target)

    def topic_share(self) -> float:
        """About how many of the passages are about something that few others are about, judged by a sample."""
        sizes = self.version, self._passages, self.size
        return topic_share(self._connections, self._shared, sizes, self._passage_kind, self.edge_types)

    def name_case(self, passages: Indices) -> None:
        """None: the server is not asked for texts."""

    def cooccurring(self, words: Iterable[str]) -> tuple[Indices, Floats]:
        """The nodes whose names occur next to forms of these casefolded words, each once, and how closely.

        See `Cooccurrence`. Of words that are next to very many names, only those are given whose edges have been read,
        or edges to them: ask again when more of the graph has been read.
        """
        wanted = content_words(words)
        if not wanted:
            return np.empty(0, np.int64), np.empty(0)
        if self._near is None or self._near.words != wanted:
            try:
                statement = NearWords.statement(wanted, self._entities_known())
                self._near = self._keep_near(wanted, self._connections.read(*statement))
            except GraphTimeout:
                self._near = self._give_up_words(wanted)
        nodes, closeness = self._near.closeness()
        return nodes[nodes < self.size], closeness[nodes < self.size]

    def expect_words(self, words: Iterable[str]) -> None:
        """Look these words up for `cooccurring` along with the next statement."""
        self._words_expected = content_words(words)

    def _keep_near(self, words: list[str], found: Rows) -> NearWords:
        self._near = NearWords(words, found, self._documents)
        self.rows_read += self._near.rows_read
        return self._near

    def _give_up_words(self, words: list[str]) -> NearWords:
        """Go on without the names next to words, which took too long to read."""
        self.truncated = True
        return self._keep_near(words, NOTHING_NEAR)

    def _entities_known(self) -> Array:
        return np.flatnonzero((self._info["flags"] & (_KNOWN | _PASSAGE)) == _KNOWN)

    # The rest

    def statements(self) -> Statements:
        """Who states what, for tenants."""
        return cast(Statements, PostgresStatements(self._connections, self, self._tenant))

    def read_entries(self) -> tuple[Array, Array, Array]:
        """The edges that have been read, at both ends: source, target and code."""
        nodes = np.flatnonzero(self._info["flags"] & _READ)
        counts, (targets, codes, _) = self._gather(nodes)
        return np.repeat(nodes, counts), targets, codes

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, computed once for this question; work space is kept for the next."""
        if isinstance(key, tuple) and key[0] == "workspaces":
            return cast(Value, self._shared.setdefault((*key, self.size), make()))
        if key not in self._cache:
            self._cache[key] = make()
        return cast(Value, self._cache[key])


_SAMPLED = 1024  # nodes of any kind

_SHARE = """
WITH sample AS (
    SELECT n.id FROM generate_series(0, %s, %s) AS s (id) JOIN nodes n USING (id)
    WHERE (n.flags & 8) > 0 AND n.kind = %s
), topics AS (
    SELECT s.id, e.dst FROM sample s
    CROSS JOIN LATERAL (SELECT DISTINCT dst FROM edges WHERE src = s.id AND code / 4 = %s AND (code & 2) = 0) e
), distinctive AS (
    SELECT dst FROM topics GROUP BY dst HAVING count(*) <= greatest(%s * (SELECT count(*) FROM sample), %s)
)
SELECT count(DISTINCT t.id)::float / greatest((SELECT count(*) FROM sample), 1)
FROM topics t JOIN distinctive USING (dst) JOIN nodes n ON n.id = t.dst WHERE (n.description::json ->> 2) !~ %s
"""


def topic_share(
    connections: Connections,
    shared: dict[Hashable, Any],
    sizes: tuple[int, int, int],
    passage_kind: int,
    edge_types: Sequence[str],
) -> float:
    """The share of a graph, as `graph/storage/table_graph.py` counts it.

    `sizes` are its version and how many passages and nodes it has. In a large graph the share is counted anew only when
    a hundredth of the passages have come or gone; `shared` keeps it between questions.
    """
    version, passages, size = sizes
    if not passages or "about" not in edge_types:
        return 0.0
    counted_at, passages_then, share = shared.get("topic share", (None, 0, 0.0))
    is_like_then = passages >= _SAMPLED and abs(passages - passages_then) * 100 < passages
    if version != counted_at and not is_like_then:
        step = max(1, size // _SAMPLED)
        about = edge_types.index("about")
        parameters = (size - 1, step, passage_kind, about, MAX_SHARED, MIN_SHARED, FILE_NAME)
        ((share,),) = connections.read(_SHARE, parameters)
        shared["topic share"] = version, passages, share
    return float(share)
