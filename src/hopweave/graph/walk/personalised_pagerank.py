"""Personalised PageRank: nodes by the visits of a random walk that keeps returning to the seeds."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hopweave.errors import GraphTimeout
from hopweave.graph.port import Floats, GraphPort, Indices, Mask, NodeFlags, NodeValues, StationaryDistribution
from hopweave.graph.walk.stationary_distribution import stationary_distribution
from hopweave.graph.walk.transitions import (
    TransitionRows,
    Transitions,
    TypeWeights,
    WalkOptions,
    Workspace,
    borrowed,
    transition_rows,
    weight_matrix,
)
from hopweave.storage.columns import run_positions

if TYPE_CHECKING:
    from hopweave.graph.walk.transitions import Matrix

Seeds = Mapping[int, float] | Mapping[str, float]
"""Weights of nodes, by number or by id."""

NodeScores = tuple[npt.NDArray[np.int64], Floats]
"""Distinct node numbers, and a number for each."""


@dataclass(frozen=True, slots=True)
class PageRankScores:
    """Nodes by their PageRank score, best first, and how they were computed.

    Over the whole graph scores sum to 1. `finished` is False when the deadline stopped the walk; the answer is then
    the best so far. The sum of the errors of all scores is at most twice `residual`.
    """

    nodes: npt.NDArray[np.int64]
    scores: Floats
    rounds: int
    finished: bool
    residual: float

    @property
    def prominence(self) -> float:
        """How far the best node stands out from the others: 1 - mean of the other scores / best score.

        0 for no answer or one where all are alike, 1 for a single node.

        >>> PageRankScores(np.array([4, 7, 9]), np.array([0.5, 0.2, 0.1]), 3, True, 0.0).prominence
        0.7
        """
        if not len(self.scores):
            return 0.0
        others = float(self.scores[1:].mean()) if len(self.scores) > 1 else 0.0
        return max(0.0, 1 - others / float(self.scores[0]))


def personalised_pagerank(
    graph: GraphPort,
    seeds: Seeds,
    *,
    restart: float = 0.15,
    edge_type_weights: Mapping[str, float] | None = None,
    backward_type_weights: Mapping[str, float] | None = None,
    node_bias: NodeValues | None = None,
    among: NodeFlags | None = None,
    top_k: int | None = None,
    min_score: float = 0.0,
    tolerance: float = 0.0125,
    time_budget_seconds: float | None = None,
) -> PageRankScores:
    """Rank nodes by the visits of a random walk that jumps back to the seeds with probability `restart` at every step.

    x = restart * s + (1 - restart) * Pᵀx, where s are the seed weights scaled to 1 and P moves along an edge, or
    against it, in proportion to its weight x the weight of its type. From a dangling node, one without edges to follow,
    the walk jumps back to the seeds. Solved by `push`, which reads only the neighbourhood of the seeds;
    `power_iteration` is the slow reference for a whole graph.

    L. Page, S. Brin, R. Motwani, T. Winograd (1999), The PageRank Citation Ranking: Bringing Order to the Web;
    T. H. Haveliwala (2002), Topic-Sensitive PageRank. `restart` is 1 - damping factor.

    - `seeds`: node numbers or ids and their weights. Ids that are not in the graph and weights of 0 are left out;
      without any seed left there is no answer, rather than a ranking of everything.
    - `restart`: above 0, at most 1; higher stays nearer to the seeds.
    - `edge_type_weights`: replaces `EDGE_TYPE_WEIGHTS`; a type that is not listed counts 0.5.
    - `backward_type_weights`: what edges count when followed against their direction; the same when not given.
    - `node_bias`: one number per node, 0 or more, that the weight of every edge to it is multiplied by; an array, or
      something that computes the numbers of the nodes it is indexed with.
    - `among`: one flag per node; the others are passed through, but not returned.
    - `top_k`, `min_score`: how many nodes to return, None for all that were reached; only those above this score.
    - `tolerance`: the push goes on from a node whose residual is more than 0.001 x this per edge.
    - `time_budget_seconds`: answer with the best so far after this time. What is computed once per graph counts too.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> graph = graph_from_arrays(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([1.0, 3.0, 1.0]))
    >>> answer = personalised_pagerank(graph, {0: 1.0}, top_k=3, tolerance=1e-9)
    >>> answer.nodes.tolist(), answer.scores.round(3).tolist()
    ([1, 2, 0], [0.459, 0.234, 0.228])
    >>> len(personalised_pagerank(graph, {"elsewhere": 1.0}).nodes)
    0
    """
    _check_numbers(restart, tolerance, top_k, time_budget_seconds)
    _check_arrays(graph.size, among, node_bias)
    deadline = None if time_budget_seconds is None else time.perf_counter() + time_budget_seconds
    options = WalkOptions(restart, tolerance, node_bias, deadline)
    weights = TypeWeights("both", edge_type_weights, backward_type_weights)
    nodes, shares = _seed_vector(graph, seeds)
    if not len(nodes):
        return PageRankScores(np.empty(0, np.int64), np.empty(0), 0, True, 0.0)
    edge_rows = graph.edge_rows()
    stationary = (
        None
        if edge_rows is None
        else edge_rows.stationary_distribution_of(
            weights.key, lambda: stationary_distribution(weight_matrix(graph, weights))
        )
    )
    found = push(transition_rows(graph, options, weights), nodes, shares, options, stationary)
    nodes, scores = _best(found.nodes, found.scores, among, top_k, min_score)
    return replace(found, nodes=nodes, scores=scores)


def power_iteration(
    weights: "Matrix",
    seeds: Floats,
    *,
    restart: float = 0.15,
    node_bias: Floats | None = None,
    tolerance: float = 1e-9,
) -> npt.NDArray[np.float64]:
    """The scores of all nodes: x <- restart * s + (1 - restart) * Pᵀx until the sum of all errors is below `tolerance`.

    `weights` are what the walk follows edges by (`weight_matrix`), `seeds` one number per node. What arrives at a
    dangling node goes back to the seeds.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> chain = graph_from_arrays(np.array([0]), np.array([1]))
    >>> power_iteration(weight_matrix(chain, TypeWeights("out")), np.array([1.0, 0.0]), restart=0.5).round(4).tolist()
    [0.6667, 0.3333]
    """
    moves = weights if node_bias is None else weights.multiply(node_bias).tocsr()
    totals: npt.NDArray[np.float64] = np.asarray(moves.sum(axis=1))
    shares = np.divide(1 - restart, totals, out=np.zeros(len(totals)), where=totals > 0)
    backward, start = moves.T.tocsr(), seeds / seeds.sum()
    scores: npt.NDArray[np.float64] = start
    # after so many steps, the error is within rounding
    for _ in range(10 if restart == 1 else 10 + math.ceil(math.log(tolerance * restart / 2) / math.log1p(-restart))):
        moved = backward @ (scores * shares)
        moved += (1 - moved.sum()) * start
        error = float(np.abs(moved - scores).sum()) * (1 - restart) / restart
        scores = moved
        if error <= tolerance:
            break
    return scores


def _seed_vector(graph: GraphPort, seeds: Seeds) -> NodeScores:
    """The seeds by number, each once, with weights that sum to 1."""
    ids = [seed for seed in seeds if isinstance(seed, str)]
    numbers = graph.find(ids) if ids else {}
    weights: dict[int, float] = {}
    for seed, weight in seeds.items():
        if not 0 <= weight < math.inf:
            raise ValueError(f"seeds[{seed!r}]: weight {weight} is not allowed; it must be 0 or more, and finite")
        if not isinstance(seed, str) and not 0 <= int(seed) < graph.size:
            raise ValueError(f"seeds: there is no node {int(seed)}; numbers go from 0 to {graph.size - 1}")
        number = numbers.get(seed) if isinstance(seed, str) else int(seed)
        if number is not None and weight > 0:
            weights[number] = weights.get(number, 0.0) + weight
    nodes = np.array(sorted(weights), np.int64)
    shares = np.array([weights[node] for node in nodes.tolist()])
    if len(shares):
        shares = shares / shares.max()
    return nodes, shares / shares.sum()


def _best(
    nodes: npt.NDArray[np.int64], scores: Floats, among: NodeFlags | None, top_k: int | None, min_score: float
) -> NodeScores:
    """The best of the nodes that may be returned, and their scores."""
    if among is not None:
        kept = among[nodes]
        nodes, scores = nodes[kept], scores[kept]
    kept = scores > max(min_score, 0.0)
    if top_k is not None and top_k < len(nodes):
        kept &= scores >= np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
    nodes, scores = nodes[kept], scores[kept]
    order = np.lexsort((nodes, -scores))[:top_k]
    return nodes[order], scores[order]


def _check_numbers(restart: float, tolerance: float, top_k: int | None, time_budget_seconds: float | None) -> None:
    if not 0 < restart <= 1:
        raise ValueError(f"restart: {restart} is not allowed; it must be above 0 and at most 1")
    if not 1e-12 <= tolerance < math.inf:
        raise ValueError(f"tolerance: {tolerance} is not allowed; it must be at least 1e-12, and finite")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k} is not allowed; it must be at least 1, or None")
    if time_budget_seconds is not None and not time_budget_seconds > 0:
        raise ValueError(f"time_budget_seconds: {time_budget_seconds} is not allowed; it must be above 0, or None")


def _check_arrays(size: int, among: NodeFlags | None, node_bias: NodeValues | None) -> None:
    if isinstance(among, np.ndarray) and (among.dtype != np.bool_ or among.shape != (size,)):
        raise ValueError(f"among: needs one flag per node, {size} in all; got {among.dtype} of shape {among.shape}")
    if isinstance(node_bias, np.ndarray) and (
        node_bias.shape != (size,) or (size and not (node_bias.min() >= 0 and node_bias.max() < math.inf))
    ):
        raise ValueError(f"node_bias: needs one number per node, {size} in all, each 0 or more and finite")


PUSH_THRESHOLD = 1e-3
"""A node is pushed while its residual is more than this x tolerance per edge."""

MOMENTUM = 0.4
"""Times (1 - restart)², the share of its last step that a node adds to the next one. It saves four of ten rounds."""

PLAIN_ROUNDS = 4
"""Momentum comes after these: until then a walk finds its neighbourhood, and would read more of it than it needs."""

WORTHWHILE = 0.1
"""A push ends when the residuals of all nodes that could be pushed sum to less than this x tolerance."""


def push(
    rows: TransitionRows,
    seeds: Indices,
    weights: Floats,
    options: WalkOptions,
    stationary: StationaryDistribution | None = None,
) -> PageRankScores:
    """Push from distinct seeds until no residual is above 0.001 x tolerance per edge, then distribute the residuals.

    The scores are those of all nodes that were reached, by number.

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
            nodes, further = _distribute(nodes, left, space.reached, stationary, options)
        scores = options.restart * (space.estimate[nodes].astype(np.float64) + space.residual[nodes]) + further
    # with momentum, what was passed on too much to a node far off may not have come back yet
    return PageRankScores(nodes, np.maximum(scores, 0) / total, rounds, finished, float(np.abs(left).sum()) / total)


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
) -> tuple[npt.NDArray[np.int64], Floats]:
    """All nodes that get a share of the residual, and what each gets.

    The share `restart` of the residual stays where it is; the rest follows the stationary distribution.
    """
    components = stationary.components[nodes]
    mass = _by_component(stationary, components, residual * stationary.converges[nodes])
    if options.node_bias is not None:
        # the stationary distribution is that without node bias: only its proportions among the nodes reached are used
        probabilities = stationary.probabilities[nodes] * options.node_bias[nodes]
        sums = _by_component(stationary, components, probabilities)[components]
        shares = np.divide(probabilities, sums, out=np.zeros(len(nodes)), where=sums > 0)
        return nodes, (1 - options.restart) * mass[components] * shares
    mass *= 1 - options.restart
    left = np.flatnonzero(mass)
    starts = stationary.top_offsets[left]
    top_nodes = stationary.top_nodes[run_positions(starts, stationary.top_offsets[left + 1] - starts)]
    nodes = np.concatenate([nodes, top_nodes[~reached[top_nodes]]])
    return nodes, mass[stationary.components[nodes]] * stationary.probabilities[nodes]


def _by_component(stationary: StationaryDistribution, components: Indices, values: Floats) -> Floats:
    sums = np.bincount(components, values, len(stationary.top_offsets) - 1)
    return sums.astype(np.float64, copy=False)  # bincount of an empty array returns integers
