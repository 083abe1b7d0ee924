"""Personalised PageRank by forward push: only the neighbourhood of the seeds is read, not the whole graph."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.errors import GraphTimeout
from hopweave.graph.port import Floats, Indices, Mask, StationaryDistribution
from hopweave.graph.walk.transitions import TransitionRows, Transitions, WalkOptions, Workspace, borrowed
from hopweave.storage.columns import run_positions

PUSH_THRESHOLD = 1e-3
"""A node is pushed while its residual is more than this x tolerance per edge."""

MOMENTUM = 0.4
"""Times (1 - restart)², the share of its last step that a node adds to the next one. It saves four of ten rounds."""

PLAIN_ROUNDS = 4
"""Momentum comes after these: until then a walk finds its neighbourhood, and would read more of it than it needs."""

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
    options: WalkOptions,
    stationary: StationaryDistribution | None = None,
) -> PushResult:
    """Push from distinct seeds until no residual is above 0.001 x tolerance per edge, then distribute the residuals.

    Every round, all nodes above that threshold add a step to their estimate, take it off their residual, and pass
    (1 - restart) of it on to their neighbours. A step is the residual; from the
    fifth round on it is (1 + m) x the residual + m x the step before, with the momentum m = 0.4 x (1 - restart)². The
    residual left at the end is distributed in proportion to `stationary`, that distribution of each component: over the
    nodes reached and the most probable nodes of the component. With a node bias, only over the nodes reached.

    R. Andersen, F. Chung, K. Lang (2006), Local Graph Partitioning using PageRank Vectors, FOCS; there p is the
    estimate and r the residual. B. T. Polyak (1964), Some Methods of Speeding up the Convergence of Iteration Methods.
    Pushing all nodes of a round at once and distributing what is left are ours.

    >>> from hopweave.graph.walk.transitions import transition_rows
    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> options = WalkOptions(restart=0.5, tolerance=1e-6)
    >>> rows = transition_rows(graph_from_arrays(np.array([0]), np.array([1])), options)
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
        if stationary is not None:
            nodes, further, lost = _distribute(nodes, left, space.reached, stationary, options)
            total -= lost
        scores = options.restart * (space.estimate[nodes].astype(np.float64) + space.residual[nodes]) + further
    # with momentum, what was passed on too much to a node far off may not have come back yet
    return PushResult(nodes, np.maximum(scores, 0) / total, rounds, float(np.abs(left).sum()) / total, finished)


def _push_rounds(
    rows: TransitionRows, frontier: npt.NDArray[np.int64], options: WalkOptions, space: Workspace
) -> tuple[int, bool]:
    """Push round by round; how many rounds, and whether the deadline left time for all of them."""
    residual, steps = space.residual, space.steps
    worthwhile = WORTHWHILE * options.tolerance
    pushed, rounds = frontier, 0
    while len(frontier):
        if rounds and options.past_deadline:
            return rounds, False
        before = residual[frontier]
        left = float(np.add.reduce(np.abs(before)))
        if rounds and left < worthwhile:
            break
        readable, found = _transitions(rows, frontier)
        if found is None:
            return rounds, False
        if len(readable) < len(frontier):
            before = residual[readable]
        momentum = _momentum(options, rounds, left)
        step = (1 + momentum) * before + momentum * steps[readable] if momentum else before
        steps[pushed] = 0
        steps[readable] = step
        pushed, rounds = readable, rounds + 1
        space.estimate[readable] += step
        residual[readable] = before - step
        space.reached[found.targets] = True
        passed_on = found.passed_on((1 - options.restart) * step)
        # of one type, as `at` is slow otherwise
        np.add.at(residual, found.targets, passed_on.astype(residual.dtype, copy=False))
        if len(readable) < len(frontier):
            return rounds, False
        touched = np.concatenate([found.targets, readable]) if momentum else found.targets
        frontier = _next_frontier(rows, touched, space, PUSH_THRESHOLD * options.tolerance, worthwhile)
    return rounds, True


def _momentum(options: WalkOptions, rounds: int, left: float) -> float:
    """The share of its last step that a node adds to the next one; `left` is the sum of all residuals above threshold.

    It speeds up walks whose edges are followed both ways. Without momentum a push always converges: after k
    rounds at most (1 - restart)^k is left.
    """
    onward = 1 - options.restart
    helps = rounds >= PLAIN_ROUNDS and left < 2 * onward**rounds
    return MOMENTUM * onward**2 if helps else 0.0


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


def _next_frontier(
    rows: TransitionRows, touched: Indices, space: Workspace, threshold: float, worthwhile: float
) -> npt.NDArray[np.int64]:
    """The nodes to push next, of those whose residual has changed; on a server, only if they are worth reading."""
    frontier = _distinct(_above(rows, touched, space.residual, threshold), space.latest)
    if not rows.read_ahead:
        return frontier
    rows.expect(_above(rows, touched, space.residual, rows.read_ahead * threshold))
    known = rows.is_read(frontier)
    is_worthwhile = np.abs(space.residual[frontier[~known]]).sum() >= worthwhile
    return frontier if is_worthwhile else frontier[known]


def _above(rows: TransitionRows, nodes: Indices, residual: Floats, threshold: float) -> Indices:
    """The nodes whose residual is above the threshold per edge."""
    left = np.abs(residual[nodes])
    above = (left > threshold).nonzero()[0]  # few, so only for these it is asked how many edges they have
    nodes, left = nodes[above], left[above]
    return nodes[left > threshold * rows.edge_counts(nodes)]


def _distinct(nodes: Indices, latest: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Each node once: of its appearances, the one that was written last. Sorting would take longer."""
    order = np.arange(len(nodes), dtype=np.int32)
    latest[nodes] = order
    distinct: npt.NDArray[np.int64] = nodes[latest[nodes] == order].astype(np.int64, copy=False)
    return distinct


def _distribute(
    nodes: npt.NDArray[np.int64],
    residual: Floats,
    reached: Mask,
    stationary: StationaryDistribution,
    options: WalkOptions,
) -> tuple[npt.NDArray[np.int64], Floats, float]:
    """All nodes that get a share of the residual, what each gets, and what is lost at dangling nodes.

    With restart c and dangling mass d, the share c / (1 - (1 - c) * (1 - d)) of a residual becomes score. The share c
    of the residual stays where it is; the rest follows the stationary distribution.
    """
    components = stationary.components[nodes]
    mass = _by_component(stationary, components, residual * stationary.converges[nodes])
    if options.node_bias is not None:
        # the stationary distribution is that without node bias: only its proportions among the nodes reached are used
        probabilities = stationary.probabilities[nodes] * options.node_bias[nodes]
        sums = _by_component(stationary, components, probabilities)[components]
        shares = np.divide(probabilities, sums, out=np.zeros(len(nodes)), where=sums > 0)
        return nodes, (1 - options.restart) * mass[components] * shares, 0.0
    left = np.flatnonzero(mass)
    kept = options.restart / (1 - (1 - options.restart) * (1 - stationary.dangling_mass[left]))
    lost = float(((1 - kept) * mass[left]).sum())
    mass[left] *= kept - options.restart
    starts = stationary.top_offsets[left]
    top_nodes = stationary.top_nodes[run_positions(starts, stationary.top_offsets[left + 1] - starts)]
    nodes = np.concatenate([nodes, top_nodes[~reached[top_nodes]]])
    return nodes, mass[stationary.components[nodes]] * stationary.probabilities[nodes], lost


def _by_component(stationary: StationaryDistribution, components: Indices, values: Floats) -> Floats:
    sums = np.bincount(components, values, len(stationary.dangling_mass))
    return sums.astype(np.float64, copy=False)  # bincount of an empty array returns integers
