"""Graphs for tests and benchmarks: of nodes and edges, or of arrays, and one that is nothing but a port."""

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from hopweave.graph.model import Edge, Node
from hopweave.graph.port import Direction, Floats, Indices, Mask, Neighbours, Shown, Value
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph.storage.tables import BACKWARD, MENTION, PRESENT, GraphTables
from hopweave.language.words import word_key


class _Graph(TableGraph):
    """A graph whose edges belong to the passages at their ends, as no document states them."""

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes; a node that has only a number goes by it."""
        return [node if node.kind else Node(node.id, "node", node.id) for node in super().nodes(indices)]

    def statements(self) -> None:  # type: ignore[override]
        """None: nobody states anything."""


def graph_from_edges(nodes: Iterable[Node], edges: Iterable[Edge], version: int = 0) -> TableGraph:
    """A graph of these nodes and edges, the same whatever their order, with the weights as they are given.

    Nodes are numbered by id. An edge to a node that was not given is an error.

    >>> graph = graph_from_edges([Node.entity("Skua"), Node.entity("Harris")], [Edge("entity:skua", "entity:harris")])
    >>> graph
    TableGraph(size=2, edges=1, version=0)
    >>> [graph.ids[index] for index in graph.neighbours(np.array([0])).targets], graph_from_edges([], [])
    ([], TableGraph(size=0, edges=0, version=0))
    """
    ordered = sorted({node.id: node for node in nodes}.values(), key=lambda node: node.id)
    numbers = {node.id: number for number, node in enumerate(ordered)}
    edges = list(edges)
    types = sorted({edge.type for edge in edges})
    return graph_from_arrays(
        np.array([numbers[edge.source] for edge in edges], np.int64),
        np.array([numbers[edge.target] for edge in edges], np.int64),
        np.array([edge.weight for edge in edges], np.float64),
        types=np.array([types.index(edge.type) for edge in edges], np.int64),
        edge_types=types,
        nodes=ordered,
        version=version,
    )


def graph_from_arrays(
    sources: Indices,
    targets: Indices,
    weights: Floats | None = None,
    *,
    types: Indices | None = None,
    edge_types: Sequence[str] = ("relates_to",),
    nodes: Sequence[Node] | None = None,
    size: int | None = None,
    version: int = 0,
    are_mentions: bool = False,
) -> TableGraph:
    """A graph of edges given as arrays of node numbers; weights default to 1 and types to the first type.

    With `are_mentions`, the edges are those of passages to what they mention, of which no two are parallel; a knowledge
    base has mostly such. Without `nodes`, their ids are their numbers, and they have no names to look up.

    >>> graph_from_arrays(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([1.0, 2.0, 3.0]))
    TableGraph(size=2, edges=2, version=0)
    """
    if size is None:
        size = len(nodes) if nodes is not None else int(max(sources.max(initial=-1), targets.max(initial=-1))) + 1
    weights = np.ones(len(sources)) if weights is None else weights
    codes = 4 * (np.zeros(len(sources), np.int64) if types is None else types) + MENTION * are_mentions
    tables = GraphTables()
    tables.edge_types = list(edge_types)
    for number in range(size):
        tables.node_number(nodes[number].id if nodes else str(number), nodes[number].kind if nodes else "node")
    for number, node in enumerate(nodes or ()):
        tables.set_name(number, node.name)
    tables.settle()
    tables.nodes["flags"][:] |= PRESENT
    if "about" in edge_types:
        np.add.at(tables.nodes["about"], targets[codes // 4 == list(edge_types).index("about")], 1)
    if nodes:
        facts = ([one.id, one.kind, one.name, one.document_id, dict(one.metadata)] for one in nodes)
        texts = [tables.texts.add(json.dumps(fact)) for fact in facts]
        numbers = np.arange(size)
        tables.declared.append(size, node=numbers, document=numbers, text=texts, spelling=np.full(size, -1))
        tables.declared_at.extend(numbers, [numbers])
    tables.rows.extend(
        np.concatenate([sources, targets]),
        [np.concatenate([targets, sources]), np.concatenate([codes, codes + BACKWARD]), np.concatenate([weights] * 2)],
    )
    return _Graph(tables, version)


class PlainPort:
    """Plain Python behind the port: lists of edges, one call at a time, no arrays, exact names only."""

    truncated = False

    def __init__(self, nodes: Iterable[Node], edges: Sequence[Edge], version: int = 0) -> None:
        self._nodes = sorted(nodes, key=lambda node: node.id)
        self._numbers = {node.id: number for number, node in enumerate(self._nodes)}
        self.edge_types = sorted({edge.type for edge in edges})
        self.version = version
        self.calls = 0
        self._cache: dict[Hashable, Any] = {}
        self._out: dict[int, list[tuple[int, float, int]]] = {number: [] for number in range(len(self._nodes))}
        self._in: dict[int, list[tuple[int, float, int]]] = {number: [] for number in range(len(self._nodes))}
        for edge in edges:
            source, target = self._numbers[edge.source], self._numbers[edge.target]
            self._out[source].append((target, edge.weight, self.edge_types.index(edge.type)))
            self._in[target].append((source, edge.weight, self.edge_types.index(edge.type)))

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self._nodes)

    def _edges(self, node: int, direction: Direction) -> list[tuple[int, float, int]]:
        found = list(self._out[node]) if direction in ("out", "both") else []
        if direction in ("in", "both"):
            found += [edge for edge in self._in[node] if direction == "in" or edge[0] != node]
        return sorted(found, key=lambda edge: (edge[0], edge[2]))

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The edges of these nodes; `calls` counts how often this was asked."""
        self.calls += 1
        rows = [self._edges(int(node), direction) for node in nodes]
        flat = [edge for row in rows for edge in row]
        sums = [sum(weight for _, weight, _ in self._edges(target, direction)) for target, _, _ in flat]
        return Neighbours(
            np.cumsum([0, *(len(row) for row in rows)]),
            np.array([target for target, _, _ in flat], np.int64),
            np.array([weight for _, weight, _ in flat], np.float64),
            np.array([code for _, _, code in flat], np.int64),
            np.array(sums, np.float64),
        )

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids."""
        return {id_: self._numbers[id_] for id_ in ids if id_ in self._numbers}

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes whose names have these word keys."""
        wanted = set(keys)
        found: dict[str, tuple[int, ...]] = {}
        for number, node in enumerate(self._nodes):
            name = word_key(node.name)
            if name in wanted:
                found[name] = (*found.get(name, ()), number)
        return found

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes."""
        return [self._nodes[int(index)] for index in indices]

    def nearest_names(
        self,
        spans: Sequence[Sequence[str]],
        min_similarity: float,  # noqa: ARG002 - of the port
        shown: Shown | None = None,  # noqa: ARG002 - of the port
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """None for each: names are compared only exactly."""
        return [None] * len(spans)

    def name_case(self, passages: Indices) -> None:
        """None: texts are not known."""

    def topic_share(self) -> float:
        """All passages say what they are about."""
        return 1.0

    def statements(self) -> None:
        """It is not known who states what."""

    def nodes_of_kind(self, kind: str) -> Mask:
        """Which nodes are of this kind."""
        return np.array([node.kind == kind for node in self._nodes], np.bool_)

    def targets_of_type(self, edge_type: str) -> Mask:
        """To which nodes an edge of this type leads."""
        edges = (edge for found in self._out.values() for edge in found)
        targets = {target for target, _, code in edges if self.edge_types[code] == edge_type}
        return np.array([number in targets for number in range(self.size)], np.bool_)

    def expect_words(self, words: Iterable[str]) -> None:
        """There is nothing to prepare."""

    def cooccurring(self, words: Iterable[str]) -> tuple[Indices, Floats]:  # noqa: ARG002 - of the port
        """No nodes: this graph was not made from texts."""
        return np.empty(0, np.int64), np.empty(0)

    def edge_rows(self) -> None:
        """None: edges are read by `neighbours`."""

    def all_edges(self) -> None:
        """None: edges are read for the nodes that are reached."""

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returned under this key."""
        if key not in self._cache:
            self._cache[key] = make()
        found: Value = self._cache[key]
        return found
