"""The transition matrix of a random walk on a graph in memory: computed once per graph and shared."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import LRUCache
from hopweave.errors import HopweaveError
from hopweave.graph.model import EDGE_TYPE_WEIGHTS, UNKNOWN_EDGE_TYPE_WEIGHT
from hopweave.graph.port import Adjacency, Direction, Floats, GraphPort, StationaryDistribution

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix = csr_array[np.float64]

Made = TypeVar("Made")

Precision = Literal["float32", "float64"]

MATRICES_KEPT = 8
"""How many transition matrices of one graph (directions, sets of edge-type weights) stay in memory."""


def type_factors(edge_types: Sequence[str], weights: Mapping[str, float] | None = None) -> tuple[float, ...]:
    """What each edge type multiplies the weight of its edges by.

    Without `weights` these are `EDGE_TYPE_WEIGHTS`; given weights replace them all. A type that is not listed
    counts 0.5.

    >>> type_factors(["part_of", "painted_by"]), type_factors(["part_of", "painted_by"], {"painted_by": 0.0})
    ((0.7, 0.5), (0.5, 0.0))
    """
    chosen = EDGE_TYPE_WEIGHTS if weights is None else weights
    for name, weight in chosen.items():
        if not 0 <= weight < float("inf"):
            raise ValueError(f"edge_type_weights[{name!r}]: {weight} is not allowed; it must be 0 or more, and finite")
    return tuple(float(chosen.get(name, UNKNOWN_EDGE_TYPE_WEIGHT)) for name in edge_types)


def in_memory(graph: GraphPort) -> bool:
    """Whether all edges of a graph are at hand, so that its transition matrix can be made.

    >>> from hopweave.graph.storage.csr import Graph
    >>> in_memory(Graph.from_arrays(np.array([0]), np.array([1])))
    True
    """
    return graph.adjacency("out") is not None


def all_edges(graph: GraphPort, direction: Direction) -> Adjacency:
    """All edges of a graph in memory; an error for any other."""
    edges = graph.adjacency(direction)
    if edges is None:
        raise HopweaveError("a transition matrix needs all edges of a graph in memory")
    return edges


def transition_matrix(
    graph: GraphPort,
    direction: Direction = "both",
    weights: Mapping[str, float] | None = None,
    backward_weights: Mapping[str, float] | None = None,
) -> "TransitionMatrix":
    """The transition matrix of a graph in one direction with one set of edge-type weights; made once, then shared.

    In direction "both", edges may count otherwise backward than forward.

    >>> from hopweave.graph.storage.csr import Graph
    >>> graph = Graph.from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    >>> transition_matrix(graph, "out").degrees.tolist()
    [4.0, 0.0, 0.0]
    """
    back = weights if backward_weights is None else backward_weights
    key = (direction, *(None if chosen is None else tuple(sorted(chosen.items())) for chosen in (weights, back)))
    cache: LRUCache[Any, TransitionMatrix] = graph.cached("transition matrices", lambda: LRUCache(MATRICES_KEPT))

    def make() -> TransitionMatrix:
        forward, backward = type_factors(graph.edge_types, weights), type_factors(graph.edge_types, back)
        largest = max((*forward, *backward), default=0.0) or 1.0
        return TransitionMatrix(
            graph, direction, *(tuple(factor / largest for factor in both) for both in (forward, backward))
        )

    return cache.get_or_make(key, make)


class TransitionMatrix:
    """The edges of every node with their effective weight, parallel edges merged.

    The effective weight of an edge is its weight x the factor of its type; only proportions matter, so the largest
    factor is taken as 1. The edges of node i are the positions `indptr[i]` to `indptr[i + 1]` of `targets` and
    `weights`; `degrees` holds the sum of the weights of each node. Edges whose type counts 0 are left out.
    """

    def __init__(
        self, graph: GraphPort, direction: Direction, factors: Sequence[float], backward: Sequence[float]
    ) -> None:
        self.size = graph.size
        self.direction = direction
        self._undirected = direction == "both" and factors == backward
        if direction != "both" or self._undirected:
            sources, targets, weights = _weighted(graph, direction, factors)
        else:
            sources, targets, weights = _both_ways(graph, factors, backward)
        if not weights.all():
            kept = weights > 0
            sources, targets, weights = sources[kept], targets[kept], weights[kept]
        first = np.ones(len(targets), np.bool_)
        np.not_equal(targets[1:], targets[:-1], out=first[1:])
        first[1:] |= sources[1:] != sources[:-1]
        if not first.all():
            starts = np.flatnonzero(first)
            sources, targets, weights = sources[starts], targets[starts], np.add.reduceat(weights, starts)
        self.indptr = np.zeros(self.size + 1, np.int64)
        np.cumsum(np.bincount(sources, minlength=self.size), out=self.indptr[1:])
        self.targets: npt.NDArray[np.int32] = targets
        self.weights: npt.NDArray[np.float64] = weights
        self.degrees: npt.NDArray[np.float64] = np.bincount(sources, weights, self.size).astype(np.float64, copy=False)
        self.workspaces: dict[Precision, list[Any]] = {}
        self._lock = threading.RLock()
        self._made: dict[tuple[str, Precision], Any] = {}

    @property
    def edge_count(self) -> int:
        """The number of (source, target) pairs."""
        return len(self.targets)

    @cached_property
    def edge_counts(self) -> npt.NDArray[np.float32]:
        """How many edges each node has, in the type that thresholds are compared in."""
        return np.diff(self.indptr).astype(np.float32)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every edge has a counterpart of the same weight in the other direction."""
        if self._undirected:
            return True
        forward, backward = self.forward("float32"), self.backward("float32")
        if not (np.array_equal(forward.indptr, backward.indptr) and np.array_equal(forward.indices, backward.indices)):
            return False
        ends = np.repeat(np.arange(self.size), np.diff(self.indptr))
        return np.allclose(forward.data * self.degrees[ends], backward.data * self.degrees[self.targets], rtol=1e-5)

    @property
    def stationary_distribution(self) -> StationaryDistribution | None:
        """The limit of this walk without restarts; None if the graph has no edges."""

        def make() -> StationaryDistribution | None:
            from hopweave.graph.walk.stationary_distribution import stationary_distribution

            return stationary_distribution(self)

        return self._once("stationary distribution", "float64", make)

    def probabilities(self, precision: Precision) -> Floats:
        """The transition probability of every edge: its weight / degree of its source."""

        def make() -> Floats:
            return (self.weights / np.repeat(self.degrees, np.diff(self.indptr))).astype(precision)

        return self._once("probabilities", precision, make)

    def stationary_probabilities(self, precision: Precision) -> Floats:
        """The probabilities of the stationary distribution; 0 if there is none."""
        stationary = self.stationary_distribution
        probabilities = np.zeros(self.size) if stationary is None else stationary.probabilities
        return self._once("stationary probabilities", precision, lambda: probabilities.astype(precision))

    def inverse_degrees(self, precision: Precision) -> Floats:
        """1 / degree of every node; 1 where there are no edges."""
        return self._once(
            "inverse degrees", precision, lambda: (1 / np.where(self.degrees > 0, self.degrees, 1)).astype(precision)
        )

    def forward(self, precision: Precision) -> "Matrix":
        """P, the transition probabilities as a scipy matrix, one row per source."""

        def make() -> "Matrix":
            from scipy.sparse import csr_array

            # scipy keeps the wider of two index types, and narrow ones are faster
            indptr = self.indptr.astype(np.int32) if self.edge_count < 2**31 else self.indptr
            probabilities = cast("npt.NDArray[np.float64]", self.probabilities(precision))
            return csr_array((probabilities, self.targets, indptr), shape=(self.size, self.size))

        return self._once("forward", precision, make)

    def backward(self, precision: Precision) -> "Matrix":
        """Pᵀ, one row per target: times a distribution, it is the distribution one step later."""

        def make() -> "Matrix":
            return self.forward(precision).T.tocsr()

        return self._once("backward", precision, make)

    def _once(self, name: str, precision: Precision, make: Callable[[], Made]) -> Made:
        with self._lock:
            if (name, precision) not in self._made:
                self._made[name, precision] = make()
            return cast(Made, self._made[name, precision])


_Edges = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Sources, targets and weights."""


def _weighted(graph: GraphPort, direction: Direction, factors: Sequence[float]) -> _Edges:
    """The edges in one direction, by source and target, with the weights that count."""
    adjacency = all_edges(graph, direction)
    weights = adjacency.weights
    if any(factor != 1 for factor in factors):
        weights = weights * np.array(factors)[adjacency.types]
    return np.repeat(np.arange(graph.size, dtype=np.int32), np.diff(adjacency.indptr)), adjacency.targets, weights


def _both_ways(graph: GraphPort, factors: Sequence[float], backward: Sequence[float]) -> _Edges:
    """Every edge and its reverse, which may have another weight; a self loop counts once, as an edge."""
    there, back = _weighted(graph, "out", factors), _weighted(graph, "in", backward)
    kept = back[0] != back[1]
    sources = np.concatenate([there[0], back[0][kept]])
    targets = np.concatenate([there[1], back[1][kept]])
    weights = np.concatenate([there[2], back[2][kept]])
    order = np.lexsort((targets, sources))
    return sources[order], targets[order], weights[order]
