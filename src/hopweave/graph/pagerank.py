"""Personalised PageRank: which nodes a walker meets who keeps returning to the seeds.

One function, several engines behind it: `push` looks only at the neighbourhood of the seeds and runs on any graph
port. The others solve for a whole graph in memory: `conjugate_gradient` where edges count the same both ways,
`bicgstab` where they run both ways but count differently, `power` for any walk.
"""

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args, overload

import numpy as np
import numpy.typing as npt

from hopweave.graph.csr import Graph
from hopweave.graph.port import Background, Direction, Floats, GraphPort
from hopweave.graph.push import PortRows, Rows, WalkRows, push
from hopweave.graph.solve import bicgstab, conjugate_gradient, power
from hopweave.graph.terms import Mask, Terms
from hopweave.graph.walk import Walk, type_factors, walk_of

Engine = Literal["auto", "push", "power", "conjugate_gradient", "bicgstab"]
Seeds = Mapping[int, float] | Mapping[str, float]
"""Weights of nodes, by number or by id."""

Start = tuple[npt.NDArray[np.int64], Floats]

SOLVED_WHOLE_BELOW = 40_000
"""Up to this many edges x restart, solving for the whole graph is about as fast as pushing, and exact.

A high restart keeps a push near the seeds, so pushing pays on smaller graphs.
"""

QUESTIONS_AT_ONCE = 32
"""How many questions one matrix product serves."""


@dataclass(frozen=True, slots=True)
class PageRank:
    """Nodes by how often the walker meets them, best first, and how the answer came about.

    Scores are shares of all visits: over the whole graph they sum to 1. `finished` is False when the deadline cut
    the walk short; the answer is then the best so far. The sum of the errors of all scores is at most twice
    `residual`.
    """

    nodes: npt.NDArray[np.int64]
    scores: Floats
    engine: str
    iterations: int
    finished: bool
    residual: float

    @property
    def confidence(self) -> float:
        """How far the best node stands out from the others: 1 - mean of the other scores / best score.

        0 for no answer or one where all are alike, 1 for a single node.

        >>> PageRank(np.array([4, 7, 9]), np.array([0.5, 0.2, 0.1]), "push", 3, True, 0.0).confidence
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
    pull: Floats | None = ...,
    allowed: Mask | None = ...,
    among: Mask | None = ...,
    top_k: int | None = ...,
    min_score: float = ...,
    engine: Engine = ...,
    tolerance: float = ...,
    deadline_seconds: float | None = ...,
) -> PageRank: ...


@overload
def personalised_pagerank(
    graph: GraphPort,
    seeds: Sequence[Seeds],
    *,
    restart: float = ...,
    edge_type_weights: Mapping[str, float] | None = ...,
    backward_type_weights: Mapping[str, float] | None = ...,
    direction: Direction = ...,
    pull: Floats | None = ...,
    allowed: Mask | None = ...,
    among: Mask | None = ...,
    top_k: int | None = ...,
    min_score: float = ...,
    engine: Engine = ...,
    tolerance: float = ...,
    deadline_seconds: float | None = ...,
) -> list[PageRank]: ...


def personalised_pagerank(
    graph: GraphPort,
    seeds: Seeds | Sequence[Seeds],
    *,
    restart: float = 0.15,
    edge_type_weights: Mapping[str, float] | None = None,
    backward_type_weights: Mapping[str, float] | None = None,
    direction: Direction = "both",
    pull: Floats | None = None,
    allowed: Mask | None = None,
    among: Mask | None = None,
    top_k: int | None = None,
    min_score: float = 0.0,
    engine: Engine = "auto",
    tolerance: float = 0.05,
    deadline_seconds: float | None = None,
) -> PageRank | list[PageRank]:
    """Rank nodes by the visits of a walker who, at every step, goes back to the seeds with probability `restart`.

    x = restart * s + (1 - restart) * Pᵀx, where s are the seed weights scaled to 1 and P moves along an edge in
    proportion to its weight x the weight of its type. A walker at a dead end goes back to the seeds. A sequence of
    seeds asks several questions at once and gives a list.

    - `graph`: a `Graph`, or any other `GraphPort`.
    - `seeds`: node numbers or ids and their weights. Ids that are not in the graph, weights of 0 and forbidden
      nodes are left out; without any seed left there is no answer, rather than a ranking of everything.
    - `restart`: above 0, at most 1; higher stays nearer to the seeds.
    - `edge_type_weights`: replaces `EDGE_TYPE_WEIGHTS`; a type that is not listed counts 0.5.
    - `backward_type_weights`: what edges count when walked against their direction; the same when not given.
    - `direction`: walk along the edges ("out"), against them ("in"), or as if they ran both ways.
    - `pull`: one number per node, 0 or more, that the weight of every edge to it is multiplied by: where the walker
      would rather go.
    - `allowed`: one flag per node; a forbidden node is neither returned nor walked through.
    - `among`: one flag per node; the others are walked through, but not returned.
    - `top_k`: how many nodes to return; None for all that were reached.
    - `min_score`: return only nodes with a score above this.
    - `engine`: "auto" chooses by size and symmetry.
    - `tolerance`: of a solved answer, the most the sum of all errors may be; a push goes on from a node that holds
      more than 0.0007 x this per edge.
    - `deadline_seconds`: answer with the best so far after this time. What is computed once per graph counts too.

    >>> graph = Graph.from_arrays(np.array([0, 1, 1]), np.array([1, 2, 3]), np.array([1.0, 3.0, 1.0]))
    >>> answer = personalised_pagerank(graph, {0: 1.0}, top_k=3, tolerance=1e-9)
    >>> answer.nodes.tolist(), answer.scores.round(3).tolist()
    ([1, 2, 0], [0.459, 0.234, 0.228])
    >>> len(personalised_pagerank(graph, {"elsewhere": 1.0}).nodes)
    0
    """
    _check_numbers(restart, tolerance, top_k, deadline_seconds)
    _check_masks(graph.size, allowed=allowed, among=among)
    deadline = None if deadline_seconds is None else time.perf_counter() + deadline_seconds
    _check_pull(graph.size, pull)
    drawn = allowed if pull is None else pull if allowed is None else pull * allowed
    terms = Terms(restart, tolerance, drawn, deadline)
    questions = [seeds] if isinstance(seeds, Mapping) else seeds
    starts = [_starts(graph, question, allowed) for question in questions]
    asked = [start for start in starts if len(start[0])]
    if isinstance(graph, Graph):
        walk = walk_of(graph, direction, edge_type_weights, backward_type_weights)
        found = iter(_in_memory(walk, asked, terms, engine))
    elif engine in ("auto", "push"):
        factors, background = type_factors(graph.edge_types, edge_type_weights), graph.background(direction)
        directions: dict[Direction, Sequence[float]] = {direction: factors}
        if direction == "both" and backward_type_weights is not None:
            directions = {"out": factors, "in": type_factors(graph.edge_types, backward_type_weights)}
        found = (_pushed(PortRows(graph, directions, drawn), start, terms, background) for start in asked)
    else:
        raise ValueError(f"engine: {engine!r} needs the whole graph in memory; allowed here are 'auto' and 'push'")
    answers = [
        _chosen(next(found), allowed, among, top_k, min_score) if len(start[0]) else _NOTHING for start in starts
    ]
    return answers[0] if isinstance(seeds, Mapping) else answers


_NOTHING = PageRank(np.empty(0, np.int64), np.empty(0), "none", 0, True, 0.0)


_SOLVERS = {"power": power, "conjugate_gradient": conjugate_gradient, "bicgstab": bicgstab}


def _in_memory(walk: Walk, starts: Sequence[Start], terms: Terms, engine: Engine) -> Iterator[PageRank]:
    if engine not in get_args(Engine):
        raise ValueError(f"engine: {engine!r} is not allowed; choose one of {', '.join(get_args(Engine))}")
    if engine == "auto":
        small = walk.edge_count * terms.restart <= SOLVED_WHOLE_BELOW
        to_and_fro: Engine = "bicgstab" if walk.direction == "both" else "power"
        engine = "push" if not small else "conjugate_gradient" if walk.symmetric else to_and_fro
    if engine == "conjugate_gradient" and not walk.symmetric:
        raise ValueError(
            "engine: 'conjugate_gradient' needs edges that run both ways: choose 'power' or direction 'both'"
        )
    if engine == "push":
        for start in starts:
            yield _pushed(WalkRows(walk, terms), start, terms, walk.background)
        return
    solver = _SOLVERS[engine]
    for first in range(0, len(starts), QUESTIONS_AT_ONCE):
        together = starts[first : first + QUESTIONS_AT_ONCE]
        columns = np.zeros((walk.size, len(together)), terms.precision)
        for column, (nodes, weights) in enumerate(together):
            columns[nodes, column] = weights
        solved = solver(walk, columns if len(together) > 1 else columns[:, 0], terms)
        answers, residuals = solved.scores.reshape(walk.size, -1), np.atleast_1d(solved.residuals)
        for column in range(len(together)):
            scores, residual = answers[:, column], float(residuals[column])
            yield PageRank(np.arange(walk.size), scores, engine, solved.iterations, solved.finished, residual)


def _pushed(rows: Rows, start: Start, terms: Terms, background: Background | None) -> PageRank:
    found = push(rows, *start, terms, background)
    return PageRank(found.nodes, found.scores, "push", found.rounds, found.finished, found.residual)


def _starts(graph: GraphPort, seeds: Seeds, allowed: Mask | None) -> Start:
    """The seeds by number, each once, with weights that sum to 1."""
    ids = [seed for seed in seeds if isinstance(seed, str)]
    numbers = graph.find(ids) if ids else {}
    weights: dict[int, float] = {}
    for seed, weight in seeds.items():
        if not 0 <= weight < math.inf:
            raise ValueError(f"seeds[{seed!r}]: weight {weight} is not allowed; it must be 0 or more, and finite")
        if isinstance(seed, str):
            number = numbers.get(seed)
        else:
            number = int(seed)
            if not 0 <= number < graph.size:
                raise ValueError(f"seeds: there is no node {number}; numbers go from 0 to {graph.size - 1}")
        if number is not None and weight > 0 and (allowed is None or allowed[number]):
            weights[number] = weights.get(number, 0.0) + weight
    nodes = np.array(sorted(weights), np.int64)
    shares = np.array([weights[node] for node in nodes.tolist()])
    if len(shares):
        shares = shares / shares.max()
    return nodes, shares / shares.sum()


def _chosen(found: PageRank, allowed: Mask | None, among: Mask | None, top_k: int | None, min_score: float) -> PageRank:
    nodes, scores = found.nodes, found.scores
    for mask in (allowed, among):
        if mask is not None:
            nodes, scores = nodes[mask[nodes]], scores[mask[nodes]]
    kept = scores > max(min_score, 0.0)
    if top_k is not None and top_k < len(nodes):
        kept &= scores >= np.partition(scores, len(scores) - top_k)[len(scores) - top_k]
    nodes, scores = nodes[kept], scores[kept].astype(np.float64)
    order = np.lexsort((nodes, -scores))[:top_k]
    return PageRank(nodes[order], scores[order], found.engine, found.iterations, found.finished, found.residual)


def _check_numbers(restart: float, tolerance: float, top_k: int | None, deadline_seconds: float | None) -> None:
    if not 0 < restart <= 1:
        raise ValueError(f"restart: {restart} is not allowed; it must be above 0 and at most 1")
    if not 1e-12 <= tolerance < math.inf:
        raise ValueError(f"tolerance: {tolerance} is not allowed; it must be at least 1e-12, and finite")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: {top_k} is not allowed; it must be at least 1, or None")
    if deadline_seconds is not None and not deadline_seconds > 0:
        raise ValueError(f"deadline_seconds: {deadline_seconds} is not allowed; it must be above 0, or None")


def _check_masks(size: int, **masks: Mask | None) -> None:
    for name, mask in masks.items():
        if mask is not None and (mask.dtype != np.bool_ or mask.shape != (size,)):
            raise ValueError(f"{name}: needs one flag per node, {size} in all; got {mask.dtype} of shape {mask.shape}")


def _check_pull(size: int, pull: Floats | None) -> None:
    if pull is not None and (pull.shape != (size,) or not np.isfinite(pull).all() or (pull < 0).any()):
        raise ValueError(f"pull: needs one number per node, {size} in all, each 0 or more and finite")
