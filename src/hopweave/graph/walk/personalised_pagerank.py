"""Personalised PageRank: nodes by the visits of a random walk that keeps returning to the seeds.

One function, several engines behind it: `push` reads only the neighbourhood of the seeds and runs on any graph
port. The others solve for a whole graph in memory: `conjugate_gradient` where edges count the same both ways,
`bicgstab` where they run both ways but count differently, `power` for any graph.
"""

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import (
    Direction,
    EdgeRows,
    Floats,
    GraphPort,
    Mask,
    NodeFlags,
    NodeValues,
    StationaryDistribution,
)
from hopweave.graph.walk.push import push
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.solvers import bicgstab, conjugate_gradient, power
from hopweave.graph.walk.transition_matrix import TransitionMatrix, in_memory, transition_matrix
from hopweave.graph.walk.transition_rows import TransitionRows, transition_rows

Engine = Literal["auto", "push", "power", "conjugate_gradient", "bicgstab"]
Seeds = Mapping[int, float] | Mapping[str, float]
"""Weights of nodes, by number or by id."""

SeedVector = tuple[npt.NDArray[np.int64], Floats]
"""Distinct node numbers and their weights, which sum to 1."""

SOLVED_WHOLE_BELOW = 40_000
"""Up to this many edges x restart, solving for the whole graph is about as fast as pushing, and exact.

A high restart keeps a push near the seeds, so pushing pays on smaller graphs.
"""

QUESTIONS_AT_ONCE = 32
"""How many questions one matrix product serves."""


@dataclass(frozen=True, slots=True)
class PageRankScores:
    """Nodes by their PageRank score, best first, and how they were computed.

    Over the whole graph scores sum to 1. `finished` is False when the deadline stopped the solver; the answer is then
    the best so far. The sum of the errors of all scores is at most twice `residual`.
    """

    nodes: npt.NDArray[np.int64]
    scores: Floats
    engine: str
    iterations: int
    finished: bool
    residual: float

    @property
    def prominence(self) -> float:
        """How far the best node stands out from the others: 1 - mean of the other scores / best score.

        0 for no answer or one where all are alike, 1 for a single node.

        >>> PageRankScores(np.array([4, 7, 9]), np.array([0.5, 0.2, 0.1]), "push", 3, True, 0.0).prominence
        0.7
        """
        if not len(self.scores):
            return 0.0
        others = float(self.scores[1:].mean()) if len(self.scores) > 1 else 0.0
        return max(0.0, 1 - others / float(self.scores[0]))


@overload
def personalised_pagerank(
    graph: GraphPort,
    seeds: Seeds,
    *,
    restart: float = ...,
    edge_type_weights: Mapping[str, float] | None = ...,
    backward_type_weights: Mapping[str, float] | None = ...,
    direction: Direction = ...,
    node_bias: NodeValues | None = ...,
    allowed: Mask | None = ...,
    among: NodeFlags | None = ...,
    top_k: int | None = ...,
    min_score: float = ...,
    engine: Engine = ...,
    tolerance: float = ...,
    time_budget_seconds: float | None = ...,
) -> PageRankScores: ...


@overload
def personalised_pagerank(
    graph: GraphPort,
    seeds: Sequence[Seeds],
    *,
    restart: float = ...,
    edge_type_weights: Mapping[str, float] | None = ...,
    backward_type_weights: Mapping[str, float] | None = ...,
    direction: Direction = ...,
    node_bias: NodeValues | None = ...,
    allowed: Mask | None = ...,
    among: NodeFlags | None = ...,
    top_k: int | None = ...,
    min_score: float = ...,
    engine: Engine = ...,
    tolerance: float = ...,
    time_budget_seconds: float | None = ...,
) -> list[PageRankScores]: ...


def personalised_pagerank(
    graph: GraphPort,
    seeds: Seeds | Sequence[Seeds],
    *,
    restart: float = 0.15,
    edge_type_weights: Mapping[str, float] | None = None,
    backward_type_weights: Mapping[str, float] | None = None,
    direction: Direction = "both",
    node_bias: NodeValues | None = None,
    allowed: Mask | None = None,
    among: NodeFlags | None = None,
    top_k: int | None = None,
    min_score: float = 0.0,
    engine: Engine = "auto",
    tolerance: float = 0.05,
    time_budget_seconds: float | None = None,
) -> PageRankScores | list[PageRankScores]:
    """Rank nodes by the visits of a random walk that jumps back to the seeds with probability `restart` at every step.

    x = restart * s + (1 - restart) * Pᵀx, where s are the seed weights scaled to 1 and P moves along an edge in
    proportion to its weight x the weight of its type. From a dangling node, one without edges to follow, the walk jumps
    back to the seeds. A sequence of seeds asks several questions at once and gives a list.

    L. Page, S. Brin, R. Motwani, T. Winograd (1999), The PageRank Citation Ranking: Bringing Order to the Web;
    T. H. Haveliwala (2002), Topic-Sensitive PageRank. `restart` is 1 - damping factor.

    - `seeds`: node numbers or ids and their weights. Ids that are not in the graph, weights of 0 and forbidden
      nodes are left out; without any seed left there is no answer, rather than a ranking of everything.
    - `restart`: above 0, at most 1; higher stays nearer to the seeds.
    - `edge_type_weights`: replaces `EDGE_TYPE_WEIGHTS`; a type that is not listed counts 0.5.
    - `backward_type_weights`: what edges count when followed against their direction; the same when not given.
    - `direction`: follow the edges ("out"), follow them backwards ("in"), or both.
    - `node_bias`: one number per node, 0 or more, that the weight of every edge to it is multiplied by; an array, or
      something that computes the numbers of the nodes it is indexed with, for a push.
    - `allowed`: one flag per node; a forbidden node is neither returned nor passed through.
    - `among`: one flag per node; the others are passed through, but not returned.
    - `top_k`, `min_score`: how many nodes to return, None for all that were reached; only those above this score.
    - `engine`: "auto" chooses by size and symmetry.
    - `tolerance`: of a solved answer, the largest sum of all errors; a push goes on from a node whose residual is more
      than 0.001 x this per edge.
    - `time_budget_seconds`: answer with the best so far after this time. What is computed once per graph counts too.

    >>> from hopweave.graph.storage.csr import Graph
    >>> graph = Graph.from_arrays(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([1.0, 3.0, 1.0]))
    >>> answer = personalised_pagerank(graph, {0: 1.0}, top_k=3, tolerance=1e-9)
    >>> answer.nodes.tolist(), answer.scores.round(3).tolist()
    ([1, 2, 0], [0.459, 0.234, 0.228])
    >>> len(personalised_pagerank(graph, {"elsewhere": 1.0}).nodes)
    0
    """
    _check_numbers(restart, tolerance, top_k, time_budget_seconds)
    _check_masks(graph.size, allowed=allowed, among=among)
    _check_node_bias(graph.size, node_bias)
    deadline = None if time_budget_seconds is None else time.perf_counter() + time_budget_seconds
    bias = _allowed_bias(node_bias, allowed)
    options = SolverOptions(restart, tolerance, bias, deadline)
    weights = _TypeWeights(direction, edge_type_weights, backward_type_weights)
    vectors = [_seed_vector(graph, one, allowed) for one in ([seeds] if isinstance(seeds, Mapping) else seeds)]
    found = _solve(graph, [one for one in vectors if len(one[0])], options, weights, engine)
    answers = [_select(next(found), allowed, among, top_k, min_score) if len(one[0]) else _NOTHING for one in vectors]
    return answers[0] if isinstance(seeds, Mapping) else answers


_NOTHING = PageRankScores(np.empty(0, np.int64), np.empty(0), "none", 0, True, 0.0)

_SOLVERS = {"power": power, "conjugate_gradient": conjugate_gradient, "bicgstab": bicgstab}


@dataclass(frozen=True, slots=True)
class _TypeWeights:
    """In which direction edges are followed, and what their types count forward and backward."""

    direction: Direction
    forward: Mapping[str, float] | None
    backward: Mapping[str, float] | None

    @property
    def key(self) -> str:
        """These weights as text, for use as a key."""
        ordered = [None if one is None else sorted(one.items()) for one in (self.forward, self.backward)]
        return json.dumps([self.direction, *ordered])

    def matrix(self, graph: GraphPort) -> TransitionMatrix:
        return transition_matrix(graph, self.direction, self.forward, self.backward)

    def rows(self, graph: GraphPort, options: SolverOptions) -> TransitionRows:
        return transition_rows(
            graph,
            options,
            direction=self.direction,
            edge_type_weights=self.forward,
            backward_type_weights=self.backward,
        )


def _solve(
    graph: GraphPort, vectors: Sequence[SeedVector], options: SolverOptions, weights: _TypeWeights, engine: Engine
) -> Iterator[PageRankScores]:
    """The scores for each seed vector, by the engine that was asked for."""
    if engine not in get_args(Engine):
        raise ValueError(f"engine: {engine!r} is not allowed; choose one of {', '.join(get_args(Engine))}")
    edge_rows = graph.edge_rows() if weights.direction == "both" else None
    if edge_rows is not None and (engine == "push" or (engine == "auto" and _is_large(edge_rows, options.restart))):
        stationary = edge_rows.stationary_distribution_of(
            weights.key, lambda: weights.matrix(graph).stationary_distribution
        )
        return (_by_push(weights.rows(graph, options), vector, options, stationary) for vector in vectors)
    if not in_memory(graph):
        if engine not in ("auto", "push"):
            raise ValueError(f"engine: {engine!r} needs the whole graph in memory; allowed here are 'auto' and 'push'")
        stationary = graph.stationary_distribution(weights.direction)
        return (_by_push(weights.rows(graph, options), vector, options, stationary) for vector in vectors)
    matrix = weights.matrix(graph)
    if engine == "auto":
        engine = _suitable(matrix, options.restart)
    if engine == "conjugate_gradient" and not matrix.symmetric:
        raise ValueError(
            "engine: 'conjugate_gradient' needs edges that run both ways: choose 'power' or direction 'both'"
        )
    if engine == "push":
        stationary = matrix.stationary_distribution
        return (_by_push(weights.rows(graph, options), vector, options, stationary) for vector in vectors)
    return _by_solver(matrix, vectors, options, engine)


def _is_large(edges: EdgeRows, restart: float) -> bool:
    return edges.entry_count * restart > SOLVED_WHOLE_BELOW


def _suitable(matrix: TransitionMatrix, restart: float) -> Engine:
    """The engine that is fastest for a graph in memory."""
    if matrix.edge_count * restart > SOLVED_WHOLE_BELOW:
        return "push"
    if matrix.symmetric:
        return "conjugate_gradient"
    return "bicgstab" if matrix.direction == "both" else "power"


def _by_push(
    rows: TransitionRows, vector: SeedVector, options: SolverOptions, stationary: StationaryDistribution | None
) -> PageRankScores:
    found = push(rows, *vector, options, stationary)
    return PageRankScores(found.nodes, found.scores, "push", found.rounds, found.finished, found.residual)


def _by_solver(
    matrix: TransitionMatrix, vectors: Sequence[SeedVector], options: SolverOptions, engine: Engine
) -> Iterator[PageRankScores]:
    """Many questions at once, one column each."""
    for first in range(0, len(vectors), QUESTIONS_AT_ONCE):
        together = vectors[first : first + QUESTIONS_AT_ONCE]
        columns = np.zeros((matrix.size, len(together)), options.precision)
        for column, (nodes, weights) in enumerate(together):
            columns[nodes, column] = weights
        solved = _SOLVERS[engine](matrix, columns if len(together) > 1 else columns[:, 0], options)
        answers, residuals = solved.scores.reshape(matrix.size, -1), np.atleast_1d(solved.residuals)
        for column in range(len(together)):
            scores, residual = answers[:, column], float(residuals[column])
            yield PageRankScores(np.arange(matrix.size), scores, engine, solved.iterations, solved.finished, residual)


def _seed_vector(graph: GraphPort, seeds: Seeds, allowed: Mask | None) -> SeedVector:
    """The seeds by number, each once, with weights that sum to 1."""
    ids = [seed for seed in seeds if isinstance(seed, str)]
    numbers = graph.find(ids) if ids else {}
    weights: dict[int, float] = {}
    for seed, weight in seeds.items():
        if not 0 <= weight < math.inf:
            raise ValueError(f"seeds[{seed!r}]: weight {weight} is not allowed; it must be 0 or more, and finite")
        number = numbers.get(seed) if isinstance(seed, str) else _checked_number(seed, graph.size)
        if number is not None and weight > 0 and (allowed is None or allowed[number]):
            weights[number] = weights.get(number, 0.0) + weight
    nodes = np.array(sorted(weights), np.int64)
    shares = np.array([weights[node] for node in nodes.tolist()])
    if len(shares):
        shares = shares / shares.max()
    return nodes, shares / shares.sum()


def _checked_number(seed: int, size: int) -> int:
    if not 0 <= int(seed) < size:
        raise ValueError(f"seeds: there is no node {int(seed)}; numbers go from 0 to {size - 1}")
    return int(seed)


def _select(
    found: PageRankScores, allowed: Mask | None, among: NodeFlags | None, top_k: int | None, min_score: float
) -> PageRankScores:
    """The best of the nodes that may be returned."""
    nodes, scores = found.nodes, found.scores
    for mask in (allowed, among):
        if mask is not None:
            kept = mask[nodes]
            nodes, scores = nodes[kept], scores[kept]
    kept = scores > max(min_score, 0.0)
    if top_k is not None and top_k < len(nodes):
        kept &= scores >= np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
    nodes, scores = nodes[kept], scores[kept].astype(np.float64)
    order = np.lexsort((nodes, -scores))[:top_k]
    return PageRankScores(nodes[order], scores[order], found.engine, found.iterations, found.finished, found.residual)


def _check_numbers(restart: float, tolerance: float, top_k: int | None, time_budget_seconds: float | None) -> None:
    if not 0 < restart <= 1:
        raise ValueError(f"restart: {restart} is not allowed; it must be above 0 and at most 1")
    if not 1e-12 <= tolerance < math.inf:
        raise ValueError(f"tolerance: {tolerance} is not allowed; it must be at least 1e-12, and finite")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k} is not allowed; it must be at least 1, or None")
    if time_budget_seconds is not None and not time_budget_seconds > 0:
        raise ValueError(f"time_budget_seconds: {time_budget_seconds} is not allowed; it must be above 0, or None")


def _allowed_bias(node_bias: NodeValues | None, allowed: Mask | None) -> NodeFlags | NodeValues | None:
    if node_bias is None or allowed is None:
        return allowed if node_bias is None else node_bias
    if not isinstance(node_bias, np.ndarray):
        raise ValueError("allowed: cannot be combined with a node_bias that is not an array")
    return node_bias * allowed


def _check_masks(size: int, **masks: NodeFlags | None) -> None:
    for name, mask in masks.items():
        if isinstance(mask, np.ndarray) and (mask.dtype != np.bool_ or mask.shape != (size,)):
            raise ValueError(f"{name}: needs one flag per node, {size} in all; got {mask.dtype} of shape {mask.shape}")


def _check_node_bias(size: int, node_bias: NodeValues | None) -> None:
    if isinstance(node_bias, np.ndarray) and (
        node_bias.shape != (size,) or (size and not (node_bias.min() >= 0 and node_bias.max() < math.inf))
    ):
        raise ValueError(f"node_bias: needs one number per node, {size} in all, each 0 or more and finite")
