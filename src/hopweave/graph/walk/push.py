"""Personalised PageRank by forward push: only the neighbourhood of the seeds is read, not the whole graph."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.errors import GraphTimeout
from hopweave.graph.port import Floats, Indices, Mask, StationaryDistribution
from hopweave.graph.storage.csr import slices
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_rows import TransitionRows, Transitions, Workspace, borrowed

PUSH_THRESHOLD = 7e-4
"""A node is pushed while its residual is more than this x tolerance per edge."""

WORTHWHILE = 0.1
"""A push ends when the residuals of all nodes that could be pushed sum to less than this x tolerance."""


@dataclass(frozen=True, slots=True)
class PushResult:
    """The nodes a push reached, their scores, and how far it got."""

    nodes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    rounds: int
    residual: float
    finished: bool


def push(
    rows: TransitionRows,
    seeds: Indices,
    weights: Floats,
    options: SolverOptions,
    limit: StationaryDistribution | None = None,
) -> PushResult:
    """Push from distinct seeds until no residual is above 0.0007 x tolerance per edge, then distribute the residuals.

    Every round, all nodes above that threshold add their residual to their estimate and pass (1 - restart) of it on to
    their neighbours. The residual left at the end is distributed in proportion to `limit`, the stationary distribution
    of each component: over the nodes reached and the most probable nodes of the component. With a node bias, only over
    the nodes reached.

    R. Andersen, F. Chung, K. Lang (2006), Local Graph Partitioning using PageRank Vectors, FOCS; there p is the
    estimate and r the residual. Pushing all nodes of a round at once and distributing what is left are ours.

    >>> from hopweave.graph.storage.csr import Graph
    >>> from hopweave.graph.walk.transition_rows import transition_rows
    >>> options = SolverOptions(restart=0.5, tolerance=1e-6)
    >>> rows = transition_rows(Graph.from_arrays(np.array([0]), np.array([1])), options)
    >>> found = push(rows, np.array([0]), np.array([1.0]), options)
    >>> found.nodes.tolist(), found.scores.round(4).tolist()
    ([0, 1], [0.6667, 0.3333])
    """
    with borrowed(rows, options.precision) as space:
        space.residual[seeds] = weights / weights.sum()
        space.reached[seeds] = True
        rounds, finished = _push_rounds(rows, np.asarray(seeds, np.int64), options, space)
        nodes = np.flatnonzero(space.reached)
        left = space.residual[nodes].astype(np.float64)
        total = options.restart * float(space.estimate[nodes].sum(dtype=np.float64)) + float(left.sum())
        further: Floats = np.zeros(len(nodes))
        if limit is not None:
            nodes, further, lost = _distribute(nodes, left, space.reached, limit, options)
            total -= lost
        scores = options.restart * (space.estimate[nodes].astype(np.float64) + space.residual[nodes]) + further
    return PushResult(nodes, scores / total, rounds, float(left.sum()) / total, finished)


def _push_rounds(
    rows: TransitionRows, frontier: npt.NDArray[np.int64], options: SolverOptions, space: Workspace
) -> tuple[int, bool]:
    """Push round by round; how many rounds, and whether the deadline left time for all of them."""
    estimate, residual, reached = space.estimate, space.residual, space.reached
    threshold, worthwhile, rounds = PUSH_THRESHOLD * options.tolerance, WORTHWHILE * options.tolerance, 0
    while len(frontier):
        if rounds and options.past_deadline:
            return rounds, False
        mass = residual[frontier]
        if rounds and np.add.reduce(mass) < worthwhile:
            break
        wanted = len(frontier)
        frontier, found = _transitions(rows, frontier)
        if found is None:
            return rounds, False
        if len(frontier) < wanted:
            mass = residual[frontier]
        rounds += 1
        estimate[frontier] += mass
        residual[frontier] = 0
        mass *= 1 - options.restart
        targets = found.targets.astype(np.intp, copy=False)
        reached[targets] = True
        passed_on = found.passed_on(mass)
        np.add.at(residual, targets, passed_on.astype(residual.dtype, copy=False))  # of one type, as `at` is slow else
        if len(frontier) < wanted:
            return rounds, False
        if rows.read_ahead:
            rows.expect(_near_threshold(rows, targets, residual, threshold))
        above = targets[residual[targets] > threshold]
        above = above[residual[above] > threshold * rows.edge_counts(above)]
        frontier = _distinct(above, space.latest)
        if rows.read_ahead:
            known = rows.is_read(frontier)
            if residual[frontier[~known]].sum() < worthwhile:  # not worth a round trip yet
                frontier = frontier[known]
    return rounds, True


def _transitions(
    rows: TransitionRows, frontier: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], Transitions | None]:
    """The rows of the nodes that can be read in time: all, or those that were read before; None if there are none."""
    try:
        return frontier, rows.transitions(frontier)
    except GraphTimeout:
        known = frontier[rows.is_read(frontier)]
    try:
        return known, rows.transitions(known) if len(known) else None
    except GraphTimeout:
        return known, None


def _near_threshold(
    rows: TransitionRows, targets: npt.NDArray[np.int64], residual: Floats, threshold: float
) -> npt.NDArray[np.int64]:
    """The nodes that may be pushed in a later round."""
    near = targets[residual[targets] > rows.read_ahead * threshold]
    return near[residual[near] > rows.read_ahead * threshold * rows.edge_counts(near)]


def _distinct(nodes: npt.NDArray[np.int64], latest: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Each node once: of its appearances, the one that was written last. Sorting would take longer."""
    order = np.arange(len(nodes), dtype=np.int32)
    latest[nodes] = order
    distinct: npt.NDArray[np.int64] = nodes[latest[nodes] == order]
    return distinct


def _distribute(
    nodes: npt.NDArray[np.int64], residual: Floats, reached: Mask, limit: StationaryDistribution, options: SolverOptions
) -> tuple[npt.NDArray[np.int64], Floats, float]:
    """All nodes that get a share of the residual, what each gets, and what is lost at dangling nodes.

    With restart c and dangling mass d, the share c / (1 - (1 - c) * (1 - d)) of a residual becomes score. The share c
    of the residual stays where it is; the rest follows the stationary distribution.
    """
    converges = limit.converges[nodes]
    mass = _by_component(limit, nodes[converges], residual[converges])
    components = np.flatnonzero(mass)
    if options.node_bias is None:
        kept = options.restart / (1 - (1 - options.restart) * (1 - limit.dangling_mass[components]))
        _, positions = slices(limit.top_offsets, components)
        top_nodes = limit.top_nodes[positions]
        nodes = np.concatenate([nodes, top_nodes[~reached[top_nodes]]])
        probabilities = limit.probabilities[nodes]
    else:
        # the stationary distribution is that without node bias: only its proportions among the nodes reached are used
        kept = np.ones(len(components))
        probabilities = limit.probabilities[nodes] * options.node_bias[nodes]
        sums = _by_component(limit, nodes, probabilities)[limit.components[nodes]]
        probabilities = np.divide(probabilities, sums, out=np.zeros(len(nodes)), where=sums > 0)
    lost = float(((1 - kept) * mass[components]).sum())
    mass[components] *= kept - options.restart
    return nodes, mass[limit.components[nodes]] * probabilities, lost


def _by_component(limit: StationaryDistribution, nodes: Indices, values: Floats) -> Floats:
    sums = np.bincount(limit.components[nodes], values, len(limit.dangling_mass))
    return sums.astype(np.float64, copy=False)  # of nothing, it counts with whole numbers
