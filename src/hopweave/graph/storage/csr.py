"""A graph in memory: flat arrays over dense integers, built once, shared read-only by every thread."""

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Edge, Node
from hopweave.graph.port import (
    Adjacency,
    Direction,
    Floats,
    Indices,
    Mask,
    Neighbours,
    Shown,
    StationaryDistribution,
    Value,
)
from hopweave.graph.storage.name_index import NameIndex, shown_keys
from hopweave.graph.storage.topic_share import topic_share


def slices(indptr: Indices, rows: Indices) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where the entries of several rows begin in the result, and their positions in the flat arrays.

    >>> slices(np.array([0, 2, 2, 5]), np.array([2, 0]))
    (array([0, 3, 5]), array([2, 3, 4, 0, 1]))
    """
    starts = indptr[rows]
    counts = indptr[rows + 1] - starts
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    positions = np.repeat(starts - offsets[:-1], counts)
    positions += np.arange(offsets[-1])
    return offsets, positions


class Graph:
    """An immutable graph over dense node numbers, which implements `GraphPort`.

    Make one with `Graph.build`, or with `Graph.from_arrays` when it is large and already numbered. Anything that
    needs computing once per graph (transition matrices, communities) is kept in `cached`.

    >>> graph = Graph.build([Node.entity("Skua"), Node.entity("Harris")], [Edge("entity:skua", "entity:harris")])
    >>> graph
    Graph(size=2, edges=1, version=0)
    >>> [graph.ids[index] for index in graph.neighbours(np.array([1])).targets]
    ['entity:harris']
    """

    def __init__(
        self,
        nodes: Sequence[Node] | None,
        size: int,
        edge_types: Sequence[str],
        outgoing: Adjacency,
        version: int = 0,
    ) -> None:
        self.size = size
        self.version = version
        self.edge_types = tuple(edge_types)
        self._nodes = None if nodes is None else tuple(nodes)
        self._cache: dict[Any, Any] = {"out": _frozen(outgoing), "in": _frozen(_turned(outgoing, size))}
        self._lock = threading.RLock()
        self._degrees = _degrees(self._cache["out"], self._cache["in"])

    @classmethod
    def build(cls, nodes: Iterable[Node], edges: Iterable[Edge], version: int = 0) -> "Graph":
        """A graph of these nodes and edges, the same whatever their order.

        Nodes are numbered by id; of several nodes with one id, the smallest (kind, name, document id) stays.
        Edges of the same type between the same nodes are summed; edges of weight 0 are left out. A weight that is
        negative, NaN or infinite, or an edge to a node that was not given, is an error that names the edge.

        >>> Graph.build([], [Edge("a", "b")])
        Traceback (most recent call last):
            ...
        ValueError: edge 'a' -relates_to-> 'b': there is no node 'a'
        """
        known: dict[str, Node] = {}
        for node in nodes:
            first = known.setdefault(node.id, node)
            if first is not node and _order(node) < _order(first):
                known[node.id] = node
        ordered = [known[id_] for id_ in sorted(known)]
        numbers = {node.id: number for number, node in enumerate(ordered)}
        edges = list(edges)
        edge_types = sorted({edge.type for edge in edges})
        codes = {name: code for code, name in enumerate(edge_types)}
        for edge in edges:
            for end in (edge.source, edge.target):
                if end not in numbers:
                    raise ValueError(f"{_words(edge)}: there is no node {end!r}")
            if not 0 <= edge.weight < float("inf"):
                raise ValueError(
                    f"{_words(edge)}: weight {edge.weight} is not allowed; it must be 0 or more, and finite"
                )
        return cls.from_arrays(
            np.fromiter((numbers[edge.source] for edge in edges), np.int64, len(edges)),
            np.fromiter((numbers[edge.target] for edge in edges), np.int64, len(edges)),
            np.fromiter((edge.weight for edge in edges), np.float64, len(edges)),
            types=np.fromiter((codes[edge.type] for edge in edges), np.int64, len(edges)),
            edge_types=edge_types,
            nodes=ordered,
            size=len(ordered),
            version=version,
        )

    @classmethod
    def from_arrays(
        cls,
        sources: Indices,
        targets: Indices,
        weights: Floats | None = None,
        *,
        types: Indices | None = None,
        edge_types: Sequence[str] = ("relates_to",),
        nodes: Sequence[Node] | None = None,
        size: int | None = None,
        version: int = 0,
    ) -> "Graph":
        """A graph of edges given as arrays of node numbers; weights default to 1 and types to the first type.

        Without `nodes`, node 7 is `Node("7", "node", "7")`. Parallel edges, weights of 0 and bad weights are
        treated as in `build`.

        >>> Graph.from_arrays(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([1.0, 2.0, 0.0]))
        Graph(size=2, edges=1, version=0)
        """
        begins, ends = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        edge_weights = np.ones(len(begins)) if weights is None else np.asarray(weights, np.float64)
        codes = np.zeros(len(begins), np.int64) if types is None else np.asarray(types, np.int64)
        if not len(begins) == len(ends) == len(edge_weights) == len(codes):
            raise ValueError("sources, targets, weights and types must have one entry per edge")
        if size is None:
            size = len(nodes) if nodes is not None else int(max(begins.max(initial=-1), ends.max(initial=-1))) + 1
        if nodes is not None and len(nodes) != size:
            raise ValueError(f"nodes has {len(nodes)} entries for a graph of size {size}")
        for name, values, limit in (
            ("sources", begins, size),
            ("targets", ends, size),
            ("types", codes, len(edge_types)),
        ):
            if len(values) and (values.min() < 0 or values.max() >= limit):
                raise ValueError(f"{name} must lie between 0 and {limit - 1}; found {values.min()} to {values.max()}")
        bad = np.flatnonzero(~((edge_weights >= 0) & (edge_weights < np.inf)))
        if len(bad):
            edge = Edge(str(begins[bad[0]]), str(ends[bad[0]]), edge_types[codes[bad[0]]], edge_weights[bad[0]])
            raise ValueError(_bad_weight(edge))
        outgoing = _adjacency(size, begins, ends, edge_weights, codes)
        return cls(nodes, size, edge_types, outgoing, version)

    def __repr__(self) -> str:
        return f"Graph(size={self.size}, edges={self.edge_count}, version={self.version})"

    @property
    def edge_count(self) -> int:
        """The number of stored edges: one per source, target and type."""
        return len(self.adjacency("out").targets)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The id of every node, by number."""
        if self._nodes is None:
            return tuple(map(str, range(self.size)))
        return tuple(node.id for node in self._nodes)

    @cached_property
    def kinds(self) -> npt.NDArray[np.str_]:
        """The kind of every node, by number, for masks such as `graph.kinds == "passage"`."""
        if self._nodes is None:
            return np.full(self.size, "node")
        return np.array([node.kind for node in self._nodes], dtype=np.str_)

    def adjacency(self, direction: Direction) -> Adjacency:
        """All edges in one direction, as flat arrays."""
        return self.cached(direction, lambda: _frozen(self._both_ways()))

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The edges of these nodes, in the order asked for; within a node ordered by target, then type."""
        nodes = np.asarray(nodes, np.int64)
        if direction == "both":
            offsets, targets, weights, types = self._neighbours_both_ways(nodes)
        else:
            adjacency = self.adjacency(direction)
            offsets, positions = slices(adjacency.indptr, nodes)
            targets, weights, types = (
                values[positions] for values in (adjacency.targets, adjacency.weights, adjacency.types)
            )
        return Neighbours(offsets, targets, weights, types, self._degrees[direction][targets])

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids; ids that do not exist are left out."""
        numbers = self.cached("numbers", lambda: {id_: number for number, id_ in enumerate(self.ids)})
        return {id_: numbers[id_] for id_ in ids if id_ in numbers}

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes whose names have these word keys (`word_key`), of whatever kind; unknown keys are left out.

        >>> Graph.build([Node.entity("MV Skua"), Node.passage("d1", "The MV-Skua")], []).lookup(["mv skua", "x"])
        {'mv skua': (0, 1)}
        """
        exact = self._names.exact
        return {key: nodes for key in keys if (nodes := exact(key))}

    def nearest_names(
        self, spans: Sequence[Sequence[str]], min_similarity: float, shown: Shown | None = None
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """For each span of casefolded words, the nodes with the most similar name, and the similarity in [0, 1].

        >>> Graph.build([Node.entity("Port of Harris")], []).nearest_names([["port", "harriss"]], 0.75)[0][0]
        (0,)
        """
        names = self._names
        keys = shown and shown_keys(lambda found: map(names.exact, found), shown)
        found = [names.nearest(words, threshold=min_similarity, shown=keys) for words in spans]
        return [None if nearest is None else (names.exact(nearest[0]), nearest[1]) for nearest in found]

    def topic_share(self) -> float:
        """About how many of the passages say what they are about, judged by a sample."""
        return self.cached("topic share", lambda: topic_share(self, self.nodes_of_kind("passage")))

    @property
    def _names(self) -> NameIndex:
        return self.cached("names", lambda: NameIndex(node.name for node in self.nodes(np.arange(self.size))))

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes."""
        if self._nodes is None:
            return [Node(str(index), "node", str(index)) for index in np.asarray(indices).tolist()]
        return [self._nodes[index] for index in np.asarray(indices).tolist()]

    def nodes_of_kind(self, kind: str) -> Mask:
        """One flag per node: whether it is of this kind. Read-only.

        >>> Graph.build([Node.entity("Skua"), Node.passage("d")], []).nodes_of_kind("passage").tolist()
        [False, True]
        """
        return self.cached(("nodes of kind", kind), lambda: _read_only(np.asarray(self.kinds == kind)))

    def targets_of_type(self, edge_type: str) -> Mask:
        """One flag per node: whether an edge of this type leads to it. Read-only.

        >>> graph = Graph.build([Node.entity("Skua"), Node.passage("d")], [Edge("passage:d", "entity:skua", "about")])
        >>> graph.targets_of_type("about").tolist(), graph.targets_of_type("mentions").tolist()
        ([True, False], [False, False])
        """
        return self.cached(("targets of type", edge_type), lambda: _read_only(self._targets_of_type(edge_type)))

    def cooccurring(self, words: Iterable[str]) -> tuple[Indices, Floats]:  # noqa: ARG002 - of the port
        """No nodes, because this graph was not made from texts."""
        return np.empty(0, np.int64), np.empty(0)

    def expect_words(self, words: Iterable[str]) -> None:
        """There is nothing to prepare."""

    def statements(self) -> None:
        """None: it is not known which documents state what."""

    def stationary_distribution(self, direction: Direction = "out") -> StationaryDistribution | None:
        """The limit of a random walk without restarts, with the default weights of edge types."""
        from hopweave.graph.walk.transition_matrix import transition_matrix

        return transition_matrix(self, direction).stationary_distribution

    def edge_rows(self) -> None:
        """All edges are arrays already."""

    truncated = False

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, computed once for this graph and then shared; treat it as read-only."""
        found = self._cache.get(key)
        if found is None:
            with self._lock:
                found = self._cache.get(key)
                if found is None:
                    found = self._cache[key] = make()
        return cast(Value, found)

    def _both_ways(self) -> Adjacency:
        outgoing = self.adjacency("out")
        sources = np.repeat(np.arange(self.size), np.diff(outgoing.indptr))
        targets, weights, types = outgoing.targets.astype(np.int64), outgoing.weights, outgoing.types.astype(np.int64)
        once = sources != targets  # a self loop is one edge, not one each way
        return _adjacency(
            self.size,
            np.concatenate([sources, targets[once]]),
            np.concatenate([targets, sources[once]]),
            np.concatenate([weights, weights[once]]),
            np.concatenate([types, types[once]]),
        )

    def _neighbours_both_ways(self, nodes: Indices) -> tuple[npt.NDArray[Any], ...]:
        """Found from the two directions, so that a few nodes do not wait for the edges of all."""
        found = [self.neighbours(nodes, "out"), self.neighbours(nodes, "in")]
        places = [np.repeat(np.arange(len(nodes)), np.diff(one.offsets)) for one in found]
        once = found[1].targets != nodes[places[1]]
        place = np.concatenate([places[0], places[1][once]])
        targets, weights, types = (
            np.concatenate([getattr(found[0], name), getattr(found[1], name)[once]])
            for name in ("targets", "weights", "types")
        )
        order = np.lexsort((types, targets, place))
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.bincount(place, minlength=len(nodes)), out=offsets[1:])
        return offsets, targets[order], weights[order], types[order]

    def _targets_of_type(self, edge_type: str) -> Mask:
        found = np.zeros(self.size, np.bool_)
        if edge_type in self.edge_types:
            edges = self.adjacency("out")
            found[edges.targets[edges.types == self.edge_types.index(edge_type)]] = True
        return found


def _adjacency(
    size: int,
    sources: npt.NDArray[np.int64],
    targets: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    types: npt.NDArray[np.int64],
) -> Adjacency:
    heavy = weights > 0
    sources, targets, weights, types = sources[heavy], targets[heavy], weights[heavy], types[heavy]
    kinds = int(types.max(initial=0)) + 1
    key = (sources * size + targets) * kinds + types
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    if len(first) < len(key):
        # parallel edges are added smallest first, so that the sum does not depend on the order they came in
        order = np.lexsort((weights, key))
        weights = np.add.reduceat(weights[order], first)
    else:
        weights = weights[order]
    kept = order[first]
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(sources[kept], minlength=size), out=indptr[1:])
    return Adjacency(indptr, targets[kept].astype(np.int32), weights, types[kept].astype(np.int32))


def _turned(adjacency: Adjacency, size: int) -> Adjacency:
    """The same edges by target; scipy's conversion sorts them without comparing."""
    from scipy.sparse import csr_array

    places = np.arange(len(adjacency.targets))
    by_target = csr_array((places, adjacency.targets, adjacency.indptr), shape=(size, size)).tocsc()
    order = by_target.data
    return Adjacency(
        by_target.indptr.astype(np.int64),
        by_target.indices.astype(np.int32),
        adjacency.weights[order],
        adjacency.types[order],
    )


def _degrees(outgoing: Adjacency, incoming: Adjacency) -> dict[Direction, npt.NDArray[np.float64]]:
    size = len(outgoing.indptr) - 1
    sources, targets = (np.repeat(np.arange(size), np.diff(one.indptr)) for one in (outgoing, incoming))
    loops = outgoing.targets == sources
    out, into, own = (
        np.bincount(ends, weights, size).astype(np.float64, copy=False)
        for ends, weights in (
            (sources, outgoing.weights),
            (targets, incoming.weights),
            (sources[loops], outgoing.weights[loops]),
        )
    )
    return {"out": out, "in": into, "both": out + into - own}


def _frozen(adjacency: Adjacency) -> Adjacency:
    for values in (adjacency.indptr, adjacency.targets, adjacency.weights, adjacency.types):
        values.flags.writeable = False
    return adjacency


def _read_only(flags: Mask) -> Mask:
    flags.flags.writeable = False
    return flags


def _order(node: Node) -> tuple[str, str, str, str]:
    return node.kind, node.name, node.document_id or "", repr(sorted(node.metadata.items()))


def _words(edge: Edge) -> str:
    return f"edge {edge.source!r} -{edge.type}-> {edge.target!r}"


def _bad_weight(edge: Edge) -> str:
    return f"{_words(edge)}: weight {edge.weight} is not allowed; it must be 0 or more, and finite"
