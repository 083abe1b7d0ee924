"""Rows of a transition matrix, read a few nodes at a time: what local algorithms need to know of a graph."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Direction, EdgeRows, Floats, GraphPort, Indices, Mask, NodeFlags, NodeValues
from hopweave.graph.storage.csr import slices
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_matrix import (
    Precision,
    TransitionMatrix,
    in_memory,
    transition_matrix,
    type_factors,
)


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


class TransitionRows(Protocol):
    """Rows of a transition matrix; edges to nodes of bias 0 have probability 0 or are left out."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        ...

    @property
    def workspaces(self) -> list[Workspace]:
        """Workspaces that are free to use."""
        ...

    @property
    def both_ways(self) -> bool:
        """Whether edges are followed along their direction and against it."""
        ...

    def transitions(self, nodes: Indices) -> Transitions:
        """The rows of these nodes."""
        ...

    @property
    def read_ahead(self) -> float:
        """At which share of the threshold of a push it is worth to read a node along with others; 0 if never."""
        ...

    def expect(self, nodes: Indices) -> None:
        """Say which nodes may be asked for soon."""
        ...

    def is_read(self, nodes: Indices) -> Mask:
        """Which of these nodes can be asked for without a round trip."""
        ...

    def edge_counts(self, nodes: Indices) -> Floats | Indices:
        """About how many edges each of these nodes has; all of them were seeds or targets before."""
        ...


def transition_rows(
    graph: GraphPort,
    options: SolverOptions,
    *,
    direction: Direction = "both",
    edge_type_weights: Mapping[str, float] | None = None,
    backward_type_weights: Mapping[str, float] | None = None,
) -> TransitionRows:
    """The rows of a graph: read from memory, from a matrix made once, or from the graph's neighbours."""
    edge_rows = graph.edge_rows()
    if edge_rows is not None and direction == "both":
        forward = type_factors(graph.edge_types, edge_type_weights)
        backward = forward if backward_type_weights is None else type_factors(graph.edge_types, backward_type_weights)
        spare = graph.cached(("workspaces", options.precision), lambda: _Workspaces([]))
        return LocalRows(edge_rows, graph.size, (forward, backward), options.node_bias, spare.free)
    if in_memory(graph):
        return MatrixRows(transition_matrix(graph, direction, edge_type_weights, backward_type_weights), options)
    factors = type_factors(graph.edge_types, edge_type_weights)
    directions: dict[Direction, Sequence[float]] = {direction: factors}
    if direction == "both" and backward_type_weights is not None:
        directions = {"out": factors, "in": type_factors(graph.edge_types, backward_type_weights)}
    return PortRows(graph, directions, options.node_bias)


@dataclass(frozen=True, slots=True)
class _Workspaces:
    free: list[Workspace]


class LocalRows:
    """The rows of a graph whose edges are read a few nodes at a time."""

    both_ways = True

    def __init__(
        self,
        edges: EdgeRows,
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


class _AllAtHand:
    """Mixin for rows that need not be read ahead."""

    read_ahead = 0.0

    def expect(self, nodes: Indices) -> None:
        """There is nothing to prepare."""

    def is_read(self, nodes: Indices) -> Mask:
        """All of them."""
        return np.ones(len(nodes), np.bool_)


class MatrixRows(_AllAtHand):
    """The rows of a transition matrix in memory."""

    def __init__(self, matrix: TransitionMatrix, options: SolverOptions) -> None:
        self.size, self.both_ways = matrix.size, matrix.direction == "both"
        self.workspaces: list[Workspace] = matrix.workspaces.setdefault(options.precision, [])
        self._matrix = matrix
        self._node_bias = options.node_bias
        self._probabilities = matrix.probabilities(options.precision)

    def transitions(self, nodes: Indices) -> Transitions:
        """The rows of these nodes."""
        offsets, positions = slices(self._matrix.indptr, nodes)
        counts = offsets[1:] - offsets[:-1]
        targets = self._matrix.targets[positions].astype(np.intp, copy=False)
        shares = self._probabilities[positions]
        if self._node_bias is not None:
            shares = (shares * self._node_bias[targets]).astype(shares.dtype, copy=False)
        return Transitions(counts, targets, shares, _totals(shares, offsets[:-1], counts))

    def edge_counts(self, nodes: Indices) -> Floats:
        """How many edges each node has."""
        return self._matrix.edge_counts[nodes]


class PortRows:
    """The rows of any graph, such as what a tenant may see of one: one call for the neighbours of many nodes."""

    def __init__(
        self,
        graph: GraphPort,
        directions: Mapping[Direction, Sequence[float]],
        node_bias: NodeFlags | NodeValues | None = None,
    ) -> None:
        """`directions` are those in which edges are followed, each with one factor per edge type."""
        self.size, self.both_ways = graph.size, len(directions) == 2 or "both" in directions
        self.workspaces: list[Workspace] = []
        self._graph = graph
        self._directions = {direction: np.array(factors, np.float64) for direction, factors in directions.items()}
        self._node_bias = node_bias
        self._degrees = np.zeros(graph.size)
        self._edges_seen = 0
        self._weight_seen = 0.0
        reader: EdgeRows | _AllAtHand = getattr(graph, "read_with", None) or _AllAtHand()
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
