"""Flow pruning: the few paths that carry the most between the best nodes of an answer.

A unit of resource starts at each endpoint. At every step it is shared out over all edges of a node in proportion to
their weight in the whole graph, so a hub thins it out; it decays with every hop; and a branch that carries too little
dies there and then. What arrives at another endpoint has found a path.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Node
from hopweave.graph.port import GraphPort
from hopweave.graph.push import PortRows, Rows
from hopweave.graph.terms import Mask
from hopweave.graph.walk import type_factors

EDGES_AT_ONCE = 20_000
"""About how many edges are looked at between two glances at the clock."""


@dataclass(frozen=True, slots=True)
class Path:
    """A way through the graph: its nodes, the type of each edge, and whether the edge points along the way.

    `flow` is the share of the resource that came through, `reliability` what paths are ranked by.

    >>> path = Path((Node.entity("Skua"), Node.entity("Harris")), ("sails_to",), (True,), 0.4, 1.0)
    >>> path.words
    'Skua —sails_to→ Harris'
    """

    nodes: tuple[Node, ...]
    edge_types: tuple[str, ...]
    forward: tuple[bool, ...]
    flow: float
    reliability: float

    @property
    def words(self) -> str:
        """The path on one line: names, and between them the edge with its direction."""
        steps = [
            f" —{name}→ {node.name}" if forward else f" ←{name}— {node.name}"
            for node, name, forward in zip(self.nodes[1:], self.edge_types, self.forward, strict=True)
        ]
        return self.nodes[0].name + "".join(steps)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """The documents of the passages on the path, in order."""
        return tuple(node.document_id for node in self.nodes if node.document_id is not None)


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
    def text(self) -> str:
        """The paths for a prompt, one per line, the best last: what stands last is read best."""
        return "\n".join(path.words for path in reversed(self.paths))


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
    allowed: Mask | None = None,
    deadline_seconds: float | None = 10.0,
    max_branches: int = 100_000,
) -> Paths:
    """The best paths between the best nodes of an answer, walking edges either way.

    The share of an edge is its weight x type weight / weighted degree of the node it leaves; flow = product of
    decay x share over the edges of a path, and a branch with less than `threshold` ends.
    reliability = 0.6 x mean score of the nodes + 0.4 x flow, scores and flows divided by their maximum. Of the two
    directions of a path the one with more flow counts.

    - `scores`: node numbers and scores, such as the best of a PageRank; nodes without a score count 0.
    - `max_endpoints`: how many of the best nodes paths may begin and end at.
    - `max_branches`: how many unfinished branches may be followed from one hop to the next; beyond that, and after
      `deadline_seconds`, the answer is the best so far and `finished` is False.

    >>> from hopweave.graph.csr import Graph
    >>> chain = Graph.from_arrays(np.array([0, 1]), np.array([1, 2]))
    >>> found = prune_paths(chain, {0: 1.0, 2: 0.5})
    >>> [(path.words, round(path.flow, 2)) for path in found.paths]
    [('0 —relates_to→ 1 —relates_to→ 2', 0.32)]
    """
    _check(max_endpoints=max_endpoints, max_hops=max_hops, top_k=top_k, max_branches=max_branches)
    if not 0 <= threshold <= 1 or not 0 < decay <= 1:
        raise ValueError(f"threshold: {threshold} and decay: {decay} must lie between 0 and 1, decay above 0")
    deadline = None if deadline_seconds is None else time.perf_counter() + deadline_seconds
    endpoints = sorted(scores, key=lambda node: (-scores[node], node))
    endpoints = [node for node in endpoints if scores[node] > 0 and (allowed is None or allowed[node])][:max_endpoints]
    if len(endpoints) < 2:
        return Paths((), finished=True)
    rows = PortRows(graph, {"both": type_factors(graph.edge_types, edge_type_weights)}, allowed)
    search = _Search(rows, decay, threshold, max_branches, deadline)
    flows: dict[tuple[int, ...], float] = {}
    is_endpoint = np.zeros(graph.size, np.bool_)
    is_endpoint[endpoints] = True
    for ways, amounts in search.hops(np.array(endpoints, np.int64), max_hops):
        arrived = np.flatnonzero(is_endpoint[ways[:, -1]])
        for way, flow in zip(ways[arrived].tolist(), amounts[arrived].tolist(), strict=True):
            _keep_better(flows, tuple(way), flow)
    best = _by_reliability(flows, scores)[:top_k]
    described = told(graph, [way for way, _, _ in best], edge_type_weights)
    return Paths(
        tuple(Path(*edges, flow, reliability) for edges, (_, flow, reliability) in zip(described, best, strict=True)),
        search.finished,
    )


def _keep_better(flows: dict[tuple[int, ...], float], way: tuple[int, ...], flow: float) -> None:
    back = way[::-1]
    if flows.get(back, 0.0) < flow:
        flows.pop(back, None)
        flows[way] = flow


def _by_reliability(
    flows: Mapping[tuple[int, ...], float], scores: Mapping[int, float]
) -> list[tuple[tuple[int, ...], float, float]]:
    """Ways with flow and reliability, best first; equal ones by the way itself."""
    most, highest = max(flows.values(), default=1.0), max(scores.values(), default=1.0)
    ranked = []
    for way, flow in flows.items():
        score = sum(max(scores.get(node, 0.0), 0.0) for node in way) / len(way) / highest
        ranked.append((way, flow, 0.6 * score + 0.4 * flow / most))
    return sorted(ranked, key=lambda found: (-found[2], -found[1], found[0]))


class _Search:
    """Branches that grow hop by hop, the strongest first."""

    def __init__(self, rows: Rows, decay: float, threshold: float, max_branches: int, deadline: float | None) -> None:
        self.finished = True
        self._rows = rows
        self._decay = decay
        self._threshold = threshold
        self._max_branches = max_branches
        self._deadline = deadline

    def hops(
        self, sources: npt.NDArray[np.int64], max_hops: int
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        """Branches one hop longer than before and their flow, a portion at a time."""
        ways, flows = sources[:, None], np.ones(len(sources))
        for hop in range(max_hops):
            grown = []
            for more in self._grown(ways, flows):
                yield more
                grown.append(more)
            if hop + 1 == max_hops or not grown or not self.finished:
                return
            ways, flows = np.concatenate([way for way, _ in grown]), np.concatenate([flow for _, flow in grown])
            # strongest first, equal ones by the way itself
            order = np.lexsort((*(ways[:, place] for place in reversed(range(ways.shape[1]))), -flows))
            if len(order) > self._max_branches:
                self.finished = False
            ways, flows = ways[order[: self._max_branches]], flows[order[: self._max_branches]]

    def _grown(
        self, ways: npt.NDArray[np.int64], flows: npt.NDArray[np.float64]
    ) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]]:
        begin, portion = 0, 8
        while begin < len(ways):
            if ways.shape[1] + begin > 1 and self._deadline is not None and time.perf_counter() > self._deadline:
                self.finished = False
                return
            branches, strength = ways[begin : begin + portion], flows[begin : begin + portion]
            onward = self._rows.onward(branches[:, -1])
            owners = np.repeat(np.arange(len(branches)), onward.counts)
            targets, carried = onward.targets, strength[owners] * (self._decay * onward.shares)
            alive = np.flatnonzero((carried >= self._threshold) & (carried > 0))
            targets, owners, carried = targets[alive], owners[alive], carried[alive]
            fresh = np.flatnonzero((branches[owners] != targets[:, None]).all(axis=1))
            yield np.column_stack([branches[owners[fresh]], targets[fresh]]), carried[fresh]
            begin += len(branches)
            edges_each = max(1.0, float(onward.counts.mean()))
            portion = max(1, min(len(ways), int(EDGES_AT_ONCE / edges_each)))


def told(
    graph: GraphPort, ways: Sequence[Sequence[int]], edge_type_weights: Mapping[str, float] | None = None
) -> list[tuple[tuple[Node, ...], tuple[str, ...], tuple[bool, ...]]]:
    """For each way, its nodes and, for each hop, the type of the strongest edge and whether it points along the way.

    Of equally strong edges, one along the way comes first, then the type that comes first by name.

    >>> from hopweave.graph.csr import Graph
    >>> graph = Graph.from_arrays(np.array([1, 1]), np.array([0, 2]))
    >>> told(graph, [[0, 1, 2]])[0][1:]
    (('relates_to', 'relates_to'), (False, True))
    """
    visited = sorted({node for way in ways for node in way})
    if not visited:
        return []
    hops = {hop for way in ways for one, other in pairwise(way) for hop in ((one, other), (other, one))}
    found = graph.neighbours(np.array(visited), "out")
    sources = np.repeat(np.array(visited), np.diff(found.offsets))
    known = np.flatnonzero(np.isin(found.targets, visited))
    names = [graph.edge_types[code] for code in found.types[known].tolist()]
    factors = type_factors(names, edge_type_weights)
    strongest: dict[tuple[int, int], tuple[float, str]] = {}
    for source, target, weight, factor, name in zip(
        sources[known].tolist(),
        found.targets[known].tolist(),
        found.weights[known].tolist(),
        factors,
        names,
        strict=True,
    ):
        if (source, target) in hops:
            rank = (-weight * factor, name)
            strongest[source, target] = min(strongest.get((source, target), rank), rank)
    facts = dict(zip(visited, graph.nodes(np.array(visited)), strict=True))
    answers = []
    for way in ways:
        edges = [_edge(strongest, one, other) for one, other in pairwise(way)]
        answers.append(
            (tuple(facts[node] for node in way), tuple(name for name, _ in edges), tuple(along for _, along in edges))
        )
    return answers


def _edge(strongest: Mapping[tuple[int, int], tuple[float, str]], one: int, other: int) -> tuple[str, bool]:
    along, against = strongest.get((one, other)), strongest.get((other, one))
    if along is not None and (against is None or along[0] <= against[0]):
        return along[1], True
    return (against or (0.0, ""))[1], False


def _check(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name}: {count} is not allowed; it must be at least 1")
