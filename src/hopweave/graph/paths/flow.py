"""Flow pruning: the few paths that carry the most flow between the best nodes of an answer.

A unit of resource starts at each endpoint. At every hop it is divided over all edges of a node in proportion to
their weight in the whole graph, so little of it passes through a hub; it decays with every hop; and a branch that
carries too little ends. A branch that arrives at another endpoint is a path.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.graph.paths.path import Path, describe
from hopweave.graph.port import GraphPort
from hopweave.graph.walk.transitions import PortRows, TransitionRows, TypeWeights

EDGES_AT_ONCE = 20_000
"""About how many edges are read between two looks at the clock."""

Branches = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Routes of equal length, one row of node numbers each, and their flows."""


@dataclass(frozen=True, slots=True)
class Paths:
    """Paths, the most reliable first; `finished` is False when time or work ran out before all were followed."""

    paths: tuple[Path, ...]
    finished: bool

    @property
    def document_ids(self) -> tuple[str, ...]:
        """The documents of the passages on any path, those on better paths first, each once."""
        return tuple(dict.fromkeys(id_ for path in self.paths for id_ in path.document_ids))

    @property
    def lines(self) -> tuple[str, ...]:
        """The paths in words, the best last, as the end of a context is read best."""
        return tuple(path.words for path in reversed(self.paths))

    @property
    def text(self) -> str:
        """The paths for a prompt, one per line."""
        return "\n".join(self.lines)

    def as_list(self) -> list[dict[str, Any]]:
        """The paths as plain JSON types, the most reliable first."""
        return [
            {
                "nodes": [node.name for node in path.nodes],
                "edge_types": list(path.edge_types),
                "flow": path.flow,
                "reliability": path.reliability,
            }
            for path in self.paths
        ]


def prune_paths(
    graph: GraphPort,
    scores: Mapping[int, float],
    *,
    max_endpoints: int = 8,
    max_hops: int = 4,
    threshold: float = 0.01,
    decay: float = 0.8,
    top_k: int = 15,
    edge_type_weights: Mapping[str, float] | None = None,
    time_budget_seconds: float | None = 10.0,
    max_branches: int = 100_000,
) -> Paths:
    """The best paths between the best nodes of an answer, following edges in both directions.

    The share of an edge is its weight x type weight / weighted degree of the node it leaves; flow = product of
    decay x share over the edges of a path, and a branch with less than `threshold` ends.
    reliability = 0.6 x mean score of the nodes + 0.4 x flow, scores and flows divided by their maximum. Of the two
    directions of a path the one with more flow counts.

    B. Chen et al. (2025), PathRAG: Pruning Graph-based Retrieval Augmented Generation with Relational Paths.

    - `scores`: node numbers and scores, such as the best of a PageRank; nodes without a score count 0.
    - `max_endpoints`: how many of the best nodes paths may begin and end at.
    - `max_branches`: how many unfinished branches may be followed from one hop to the next; beyond that, and after
      `time_budget_seconds`, the answer is the best so far and `finished` is False.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> chain = graph_from_arrays(np.array([0, 1]), np.array([1, 2]))
    >>> found = prune_paths(chain, {0: 1.0, 2: 0.5})
    >>> [(path.words, round(path.flow, 2)) for path in found.paths]
    [('0 —relates_to→ 1 —relates_to→ 2', 0.32)]
    """
    _check(max_endpoints=max_endpoints, max_hops=max_hops, top_k=top_k, max_branches=max_branches)
    if not 0 <= threshold <= 1 or not 0 < decay <= 1:
        raise ValueError(f"threshold: {threshold} and decay: {decay} must lie between 0 and 1, decay above 0")
    deadline = None if time_budget_seconds is None else time.perf_counter() + time_budget_seconds
    endpoints = sorted(scores, key=lambda node: (-scores[node], node))
    endpoints = [node for node in endpoints if scores[node] > 0][:max_endpoints]
    if len(endpoints) < 2:
        return Paths((), finished=True)
    rows = PortRows(graph, TypeWeights("both", edge_type_weights))
    search = _BranchSearch(rows, decay, threshold, max_branches, deadline)
    best = _by_reliability(search.arrivals(endpoints, max_hops), scores)[:top_k]
    described = describe(graph, [route for route, _, _ in best], edge_type_weights)
    return Paths(
        tuple(Path(*edges, flow, reliability) for edges, (_, flow, reliability) in zip(described, best, strict=True)),
        search.finished,
    )


def _by_reliability(
    flows: Mapping[tuple[int, ...], float], scores: Mapping[int, float]
) -> list[tuple[tuple[int, ...], float, float]]:
    """Routes with flow and reliability, best first; equal ones by their nodes."""
    max_flow, max_score = max(flows.values(), default=1.0), max(scores.values(), default=1.0)
    ranked = []
    for route, flow in flows.items():
        score = sum(max(scores.get(node, 0.0), 0.0) for node in route) / len(route) / max_score
        ranked.append((route, flow, 0.6 * score + 0.4 * flow / max_flow))
    return sorted(ranked, key=lambda found: (-found[2], -found[1], found[0]))


@dataclass(slots=True)
class _BranchSearch:
    """Branches that grow hop by hop, the strongest first; `finished` is False if some were given up."""

    rows: TransitionRows
    decay: float
    threshold: float
    max_branches: int
    deadline: float | None
    finished: bool = field(default=True, init=False)

    def arrivals(self, endpoints: list[int], max_hops: int) -> dict[tuple[int, ...], float]:
        """The flow of each route between endpoints; of the two directions of a route, the one with more flow."""
        is_endpoint = np.zeros(self.rows.size, np.bool_)
        is_endpoint[endpoints] = True
        flows: dict[tuple[int, ...], float] = {}
        for routes, amounts in self._hops(np.array(endpoints, np.int64), max_hops):
            arrived = np.flatnonzero(is_endpoint[routes[:, -1]])
            for nodes, flow in zip(routes[arrived].tolist(), amounts[arrived].tolist(), strict=True):
                route = tuple(nodes)
                if flows.get(route[::-1], 0.0) < flow:
                    flows.pop(route[::-1], None)
                    flows[route] = flow
        return flows

    def _hops(self, sources: npt.NDArray[np.int64], max_hops: int) -> Iterator[Branches]:
        """Branches one hop longer than before, a portion at a time."""
        routes, flows = sources[:, None], np.ones(len(sources))
        for hop in range(max_hops):
            longer = []
            for portion in self._extended(routes, flows):
                yield portion
                longer.append(portion)
            if hop + 1 == max_hops or not longer or not self.finished:
                return
            routes, flows = self._strongest(
                np.concatenate([nodes for nodes, _ in longer]), np.concatenate([amounts for _, amounts in longer])
            )

    def _strongest(self, routes: npt.NDArray[np.int64], flows: npt.NDArray[np.float64]) -> Branches:
        """The branches to follow, strongest first, equal ones by their nodes."""
        order = np.lexsort((*(routes[:, place] for place in reversed(range(routes.shape[1]))), -flows))
        if len(order) > self.max_branches:
            self.finished = False
        return routes[order[: self.max_branches]], flows[order[: self.max_branches]]

    def _extended(self, routes: npt.NDArray[np.int64], flows: npt.NDArray[np.float64]) -> Iterator[Branches]:
        """The branches with one more node, without those that end; not after the deadline."""
        begin, portion = 0, 8
        while begin < len(routes):
            begun = routes.shape[1] + begin > 1
            if begun and self.deadline is not None and time.perf_counter() > self.deadline:
                self.finished = False
                return
            branches, amounts = routes[begin : begin + portion], flows[begin : begin + portion]
            found = self.rows.transitions(branches[:, -1])
            owners = np.repeat(np.arange(len(branches)), found.counts)
            targets, carried = found.targets, found.passed_on(self.decay * amounts).astype(np.float64, copy=False)
            alive = np.flatnonzero((carried >= self.threshold) & (carried > 0))
            targets, owners, carried = targets[alive], owners[alive], carried[alive]
            new = np.flatnonzero((branches[owners] != targets[:, None]).all(axis=1))  # no node twice
            yield np.column_stack([branches[owners[new]], targets[new]]), carried[new]
            begin += len(branches)
            edges_each = max(1.0, float(found.counts.mean()))
            portion = max(1, min(len(routes), int(EDGES_AT_ONCE / edges_each)))


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name}: {count} is not allowed; it must be at least 1")
