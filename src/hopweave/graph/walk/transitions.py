"""The transitions of a random walk: rows that are read a few nodes at a time, and the matrix of a whole graph."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hopweave.errors import HopweaveError
from hopweave.graph.model import EDGE_TYPE_WEIGHTS, UNKNOWN_EDGE_TYPE_WEIGHT
from hopweave.graph.port import (
    AllInMemory,
    Direction,
    Floats,
    GraphPort,
    Indices,
    Mask,
    NodeFlags,
    NodeValues,
)
from hopweave.graph.storage.row_edges import RowEdges

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    Matrix = csr_array[np.float64]

Precision = Literal["float32", "float64"]


@dataclass(frozen=True, slots=True)
class WalkOptions:
    """Options of a random walk.

    `restart` is the probability to jump back to the seeds, `tolerance` the largest sum of errors of all scores,
    `node_bias` one factor per node for the weight of every edge to it (0 forbids the node), and `deadline` the
    `time.perf_counter` at which to stop.

    >>> WalkOptions(restart=0.15).precision, WalkOptions(restart=0.15, tolerance=1e-9).precision
    ('float32', 'float64')
    """

    restart: float
    tolerance: float = 0.05
    node_bias: NodeFlags | NodeValues | None = None
    deadline: float | None = None

    @property
    def precision(self) -> Precision:
        """float32, which is half the size and twice as fast, unless rounding errors come near the tolerance."""
        return "float32" if self.tolerance * self.restart >= 1e-4 else "float64"

    @property
    def past_deadline(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() > self.deadline


@dataclass(frozen=True, slots=True)
class TypeWeights:
    """Whether edges are followed forward alone or both ways, and what their types count forward and backward.

    None stands for `EDGE_TYPE_WEIGHTS`; given weights replace them all. A type that is not listed counts 0.5. Without
    `backward`, edges count the same against their direction.

    >>> TypeWeights("both", {"painted_by": 0.0}).factors(["part_of", "painted_by"])
    ((0.5, 0.0), (0.5, 0.0))
    >>> TypeWeights("out").factors(["part_of", "painted_by"])
    ((0.7, 0.5), (0.0, 0.0))
    """

    direction: Literal["out", "both"] = "both"
    forward: Mapping[str, float] | None = None
    backward: Mapping[str, float] | None = None

    @property
    def key(self) -> str:
        """These weights as text, for use as a key."""
        ordered = [None if one is None else sorted(one.items()) for one in (self.forward, self.backward)]
        return json.dumps([self.direction, *ordered])

    def factors(self, edge_types: Sequence[str]) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """What each edge type multiplies the weight of its edges by, forward and backward."""
        forward = type_factors(edge_types, self.forward)
        if self.direction == "out":
            return forward, (0.0,) * len(edge_types)
        return forward, forward if self.backward is None else type_factors(edge_types, self.backward)


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


def weight_matrix(graph: GraphPort, weights: TypeWeights) -> "Matrix":
    """What a walk follows edges by, one row per node: their weights x the factors of their types, parallel ones summed.

    A self loop counts once. An error for a graph that does not lie in memory.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> graph = graph_from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    >>> weight_matrix(graph, TypeWeights("both", {"relates_to": 1.0}, {"relates_to": 0.5})).toarray().tolist()
    [[0.0, 1.0, 3.0], [0.5, 0.0, 0.0], [1.5, 0.0, 0.0]]
    """
    from scipy.sparse import csr_array, diags_array

    edges = graph.all_edges()
    if edges is None:
        raise HopweaveError("a weight matrix needs all edges of a graph in memory")

    def with_factors(factors: Sequence[float]) -> "Matrix":
        of_edges = edges.weights * np.array([*factors, 0.0])[edges.types]
        matrix = csr_array((of_edges, edges.targets, edges.offsets), (graph.size, graph.size), copy=True)
        matrix.sum_duplicates()
        return matrix

    forward, backward = map(with_factors, weights.factors(graph.edge_types))
    backward = backward.T.tocsr()
    if weights.direction == "both":
        backward = backward - diags_array(backward.diagonal())
    total = csr_array(forward + backward)
    total.eliminate_zeros()
    return total


class Transitions(NamedTuple):
    """The transitions from some nodes: how many each has and, end to end, their targets and weights.

    The targets of a node are distinct. The probability of a transition is its weight divided by the total of its node,
    which is 0 for a node that has no edges to follow.
    """

    counts: Indices
    targets: Indices
    weights: Floats
    totals: Floats

    def passed_on(self, amounts: Floats) -> Floats:
        """What each transition carries if the nodes pass on these amounts."""
        if np.count_nonzero(self.totals) == len(self.totals):  # which takes a tenth of the time of `all`
            shares = amounts / self.totals
        else:
            shares = np.divide(amounts, self.totals, out=np.zeros(len(self.totals)), where=self.totals > 0)
        carried: Floats = self.weights * shares.repeat(self.counts)
        return carried


class Workspace:
    """One number per node for the estimate, the residual, the last step and the bookkeeping of a push.

    Fresh memory of the size of a large graph costs more than the push itself, so a workspace is cleaned where it
    was used and reused by the next push.
    """

    def __init__(self, size: int, precision: Precision) -> None:
        self.estimate: Floats = np.zeros(size, precision)
        self.residual: Floats = np.zeros(size, precision)
        self.steps: Floats = np.zeros(size, precision)
        self.reached: Mask = np.zeros(size, np.bool_)
        self.latest: npt.NDArray[np.int32] = np.empty(size, np.int32)

    def clean(self) -> None:
        """Set everything back to 0."""
        used = np.flatnonzero(self.reached)
        self.estimate[used] = 0
        self.residual[used] = 0
        self.steps[used] = 0
        self.reached[used] = False


@contextmanager
def borrowed(rows: "TransitionRows", precision: Precision) -> Iterator[Workspace]:
    """A workspace for a walk over these rows; all nodes that are written to have to be marked as reached."""
    pool = rows.workspaces
    try:
        space = pool.pop()
    except IndexError:  # none yet, or another thread was faster
        space = Workspace(rows.size, precision)
    try:
        yield space
    finally:
        space.clean()
        pool.append(space)


def transition_rows(graph: GraphPort, options: WalkOptions, weights: TypeWeights = TypeWeights()) -> "TransitionRows":
    """The rows of a graph whose edges are followed both ways: by its edge rows, or else by its neighbours."""
    edge_rows = graph.edge_rows()
    if edge_rows is None:
        return PortRows(graph, weights, options.node_bias)
    workspaces = graph.cached(("workspaces", options.precision), list[Workspace])
    return LocalRows(edge_rows, graph.size, weights.factors(graph.edge_types), options.node_bias, workspaces)


class LocalRows:
    """The rows of a graph whose edges are read a few nodes at a time."""

    def __init__(
        self,
        edges: RowEdges,
        size: int,
        factors: tuple[Sequence[float], Sequence[float]],
        node_bias: NodeFlags | NodeValues | None,
        workspaces: list[Workspace],
    ) -> None:
        """`factors` hold one number per edge type, forward and backward."""
        self.size = size
        self.workspaces = workspaces
        self._edges, self._weighted, self._node_bias = edges, edges.weighted(*factors), node_bias
        self.read_ahead, self.expect, self.is_read = edges.read_ahead, edges.expect, edges.is_read

    def transitions(self, nodes: Indices) -> Transitions:
        """The rows of these nodes."""
        found = self._weighted(nodes)
        starts, counts, weights = found.starts, found.counts, found.weights
        targets: Indices = found.targets.astype(np.intp, copy=False)  # any other type is slow to index with
        if not found.distinct:
            owners = np.repeat(np.arange(len(nodes)), counts)
            counts, targets, weights = _merged(owners, targets, weights, len(nodes), self.size)
            starts = np.cumsum(counts) - counts
        if self._node_bias is not None:
            weights = weights * self._node_bias[targets]
        return Transitions(counts, targets, weights, _totals(weights, starts, counts))

    def edge_counts(self, nodes: Indices) -> Indices:
        """How many edges each node has."""
        return self._edges.edge_counts(nodes)


class PortRows:
    """The rows of any graph, such as what a tenant may see of one: one call for the neighbours of many nodes."""

    def __init__(
        self,
        graph: GraphPort,
        weights: TypeWeights,
        node_bias: NodeFlags | NodeValues | None = None,
    ) -> None:
        self.size = graph.size
        self.workspaces: list[Workspace] = []
        self._graph = graph
        forward, backward = map(np.array, weights.factors(graph.edge_types))
        self._directions: dict[Direction, Floats] = {"both": forward}
        if weights.backward is not None:
            self._directions = {"out": forward, "in": backward}
        self._node_bias = node_bias
        self._degrees = np.zeros(graph.size)
        self._edges_seen = 0
        self._weight_seen = 0.0
        reader: RowEdges | AllInMemory = getattr(graph, "read_with", None) or AllInMemory()
        self.read_ahead, self.expect, self.is_read = reader.read_ahead, reader.expect, reader.is_read

    def transitions(self, nodes: Indices) -> Transitions:
        """The rows of these nodes, with one call per direction."""
        owners, targets, weights = [], [], []
        for direction, factors in self._directions.items():
            found = self._graph.neighbours(nodes, direction)
            self._degrees[found.targets] = found.degrees
            self._edges_seen += len(found.targets)
            self._weight_seen += float(found.weights.sum())
            owners.append(np.repeat(np.arange(len(nodes)), np.diff(found.offsets)))
            targets.append(found.targets)
            weights.append(found.weights * factors[found.types])
        counts, reached, merged = _merged(
            np.concatenate(owners), np.concatenate(targets), np.concatenate(weights), len(nodes), self.size
        )
        if self._node_bias is not None:
            merged = merged * self._node_bias[reached]
        return Transitions(counts, reached, merged, _totals(merged, np.cumsum(counts) - counts, counts))

    def edge_counts(self, nodes: Indices) -> Floats:
        """The weighted degree in units of the mean weight, so that the scale of the weights does not matter."""
        return self._degrees[nodes] * (self._edges_seen / self._weight_seen if self._weight_seen else 1.0)


TransitionRows = LocalRows | PortRows
"""Rows of a transition matrix; edges to nodes of bias 0 have probability 0."""


def _merged(
    owners: Indices, targets: Indices, weights: Floats, count: int, size: int
) -> tuple[Indices, Indices, Floats]:
    """Edges with parallel ones added up: how many each of the nodes has, their targets in order, and their weights."""
    keys = owners.astype(np.int64) * size + targets
    order = np.argsort(keys, kind="stable")
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    merged = np.add.reduceat(weights[order], first) if len(first) else np.zeros(0)
    owner, reached = np.divmod(keys[order[first]], size)
    return np.bincount(owner, minlength=count), reached, merged


def _totals(weights: Floats, starts: Indices, counts: Indices) -> Floats:
    """The sum of the weights of each node, which begin at its start."""
    if np.count_nonzero(counts) == len(counts):
        return np.add.reduceat(weights, starts) if len(counts) else np.zeros(0)
    # an empty slice would be given the weight that follows it
    totals: Floats = np.where(counts, np.add.reduceat(np.append(weights, 0), starts), 0)
    return totals
