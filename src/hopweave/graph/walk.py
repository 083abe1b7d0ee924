"""How a walker moves on a graph in memory: every node's edges, weighted by type, computed once and shared."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.csr import Graph
from hopweave.graph.model import EDGE_TYPE_WEIGHTS, UNKNOWN_EDGE_TYPE_WEIGHT
from hopweave.graph.port import Background, Direction, Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix = csr_array[np.float64]

Made = TypeVar("Made")

Precision = Literal["float32", "float64"]

WALKS_KEPT = 8
"""How many walks of one graph (directions, sets of edge-type weights) stay in memory."""


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


def walk_of(
    graph: Graph,
    direction: Direction = "both",
    weights: Mapping[str, float] | None = None,
    backward_weights: Mapping[str, float] | None = None,
) -> "Walk":
    """The walk over a graph in one direction with one set of edge-type weights; made once, then shared.

    In direction "both", edges may count otherwise backward than forward.

    >>> graph = Graph.from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    >>> walk_of(graph, "out").degrees.tolist()
    [4.0, 0.0, 0.0]
    """
    back = weights if backward_weights is None else backward_weights
    key = (direction, *(None if chosen is None else tuple(sorted(chosen.items())) for chosen in (weights, back)))
    recent: _Recent[Walk] = graph.cached("walks", lambda: _Recent(WALKS_KEPT))

    def make() -> Walk:
        forward, backward = type_factors(graph.edge_types, weights), type_factors(graph.edge_types, back)
        largest = max((*forward, *backward), default=0.0) or 1.0
        return Walk(graph, direction, *(tuple(factor / largest for factor in both) for both in (forward, backward)))

    return recent.get(key, make)


class Walk:
    """Edges of every node with their effective weight, parallel edges merged.

    An edge counts its weight x the factor of its type; only proportions matter to a walker, so the largest factor
    is taken as 1. The edges of node i are the positions `indptr[i]` to `indptr[i + 1]` of `targets` and `weights`;
    `degrees` holds the sum of the weights of each node. Edges whose type counts 0 are gone.
    """

    def __init__(self, graph: Graph, direction: Direction, factors: Sequence[float], backward: Sequence[float]) -> None:
        self.size = graph.size
        self.direction = direction
        self._runs_both_ways = direction == "both" and factors == backward
        if direction != "both" or self._runs_both_ways:
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
        self.spare: dict[Precision, list[Any]] = {}
        self._lock = threading.RLock()
        self._made: dict[tuple[str, Precision], Any] = {}

    @property
    def edge_count(self) -> int:
        """The number of (source, target) pairs."""
        return len(self.targets)

    @cached_property
    def counts(self) -> npt.NDArray[np.float32]:
        """How many edges each node has, in the type that thresholds are compared in."""
        return np.diff(self.indptr).astype(np.float32)

    @cached_property
    def symmetric(self) -> bool:
        """Whether every edge has a twin of the same weight the other way."""
        if self._runs_both_ways:
            return True
        forward, backward = self.forward("float32"), self.backward("float32")
        if not (np.array_equal(forward.indptr, backward.indptr) and np.array_equal(forward.indices, backward.indices)):
            return False
        ends = np.repeat(np.arange(self.size), np.diff(self.indptr))
        return np.allclose(forward.data * self.degrees[ends], backward.data * self.degrees[self.targets], rtol=1e-5)

    @property
    def background(self) -> Background | None:
        """Where this walk ends up when it has forgotten its start; None if the graph has no edges."""

        def make() -> Background | None:
            from hopweave.graph.background import background_of

            return background_of(self)

        return self._once("background", "float64", make)

    def shares(self, precision: Precision) -> Floats:
        """The weight of every edge as a share of the degree of its node: the probability to follow it."""
        return self._once("shares", precision, lambda: self._shares().astype(precision))

    def masses(self, precision: Precision) -> Floats:
        """The masses of the background; 0 if there is none."""
        background = self.background
        masses = np.zeros(self.size) if background is None else background.masses
        return self._once("masses", precision, lambda: masses.astype(precision))

    def resistance(self, precision: Precision) -> Floats:
        """1 / degree of every node; 1 where there are no edges."""
        return self._once(
            "resistance", precision, lambda: (1 / np.where(self.degrees > 0, self.degrees, 1)).astype(precision)
        )

    def forward(self, precision: Precision) -> "Matrix":
        """The shares as a scipy matrix, row by source."""

        def make() -> "Matrix":
            from scipy.sparse import csr_array

            # scipy keeps the wider of two index types, and narrow ones are faster
            indptr = self.indptr.astype(np.int32) if self.edge_count < 2**31 else self.indptr
            shares = cast("npt.NDArray[np.float64]", self.shares(precision))
            return csr_array((shares, self.targets, indptr), shape=(self.size, self.size))

        return self._once("forward", precision, make)

    def backward(self, precision: Precision) -> "Matrix":
        """The shares as a scipy matrix, row by target: times a distribution, it is the distribution one step on."""

        def make() -> "Matrix":
            return self.forward(precision).T.tocsr()

        return self._once("backward", precision, make)

    def _shares(self) -> npt.NDArray[np.float64]:
        return self.weights / np.repeat(self.degrees, np.diff(self.indptr))

    def _once(self, name: str, precision: Precision, make: Callable[[], Made]) -> Made:
        with self._lock:
            if (name, precision) not in self._made:
                self._made[name, precision] = make()
            return cast(Made, self._made[name, precision])


_Edges = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.float64]]
"""Sources, targets and weights."""


def _weighted(graph: Graph, direction: Direction, factors: Sequence[float]) -> _Edges:
    """The edges in one direction, by source and target, with the weights that count."""
    adjacency = graph.adjacency(direction)
    weights = adjacency.weights
    if any(factor != 1 for factor in factors):
        weights = weights * np.array(factors)[adjacency.types]
    return np.repeat(np.arange(graph.size, dtype=np.int32), np.diff(adjacency.indptr)), adjacency.targets, weights


def _both_ways(graph: Graph, factors: Sequence[float], backward: Sequence[float]) -> _Edges:
    """Every edge and its way back, which may count otherwise; a self loop counts once, as an edge."""
    there, back = _weighted(graph, "out", factors), _weighted(graph, "in", backward)
    kept = back[0] != back[1]
    sources = np.concatenate([there[0], back[0][kept]])
    targets = np.concatenate([there[1], back[1][kept]])
    weights = np.concatenate([there[2], back[2][kept]])
    order = np.lexsort((targets, sources))
    return sources[order], targets[order], weights[order]


class _Recent(Generic[Made]):
    """The few most recently used things of many; safe between threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.RLock()
        self._kept: OrderedDict[Any, Made] = OrderedDict()

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            self._kept.move_to_end(key)
            while len(self._kept) > self._limit:
                self._kept.popitem(last=False)
            return self._kept[key]
