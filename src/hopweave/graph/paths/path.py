"""Paths of a graph in words, and the strongest one from the seeds of a PageRank to each node it found, for receipts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Node
from hopweave.graph.port import GraphPort
from hopweave.graph.walk.transitions import (
    TransitionRows,
    TypeWeights,
    WalkOptions,
    borrowed,
    transition_rows,
    type_factors,
)
from hopweave.scores import best_and_ties


@dataclass(frozen=True, slots=True)
class Path:
    """A path through the graph: its nodes, the type of each edge, and whether the edge points along the path.

    `flow` is the share of the resource that arrives at its end, `reliability` what paths are ranked by.

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


Description = tuple[tuple[Node, ...], tuple[str, ...], tuple[bool, ...]]
"""The first three fields of a path: its nodes, edge types and directions."""

_Strongest = Mapping[tuple[int, int], tuple[float, str]]
"""By source and target: minus the strength of the strongest edge, and its type. The smallest is the strongest."""


def describe(
    graph: GraphPort, routes: Sequence[Sequence[int]], edge_type_weights: Mapping[str, float] | None = None
) -> list[Description]:
    """For each route of node numbers, its nodes and, for each hop, the type and direction of the strongest edge.

    Of equally strong edges, one along the route comes first, then the type that comes first by name.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> graph = graph_from_arrays(np.array([1, 1]), np.array([0, 2]))
    >>> describe(graph, [[0, 1, 2]])[0][1:]
    (('relates_to', 'relates_to'), (False, True))
    """
    visited = sorted({node for route in routes for node in route})
    if not visited:
        return []
    hops = {hop for route in routes for one, other in pairwise(route) for hop in ((one, other), (other, one))}
    strongest = _strongest_edges(graph, visited, hops, edge_type_weights)
    nodes = dict(zip(visited, graph.nodes(np.array(visited)), strict=True))
    described = []
    for route in routes:
        edges = [_edge(strongest, one, other) for one, other in pairwise(route)]
        types, forward = tuple(name for name, _ in edges), tuple(along for _, along in edges)
        described.append((tuple(nodes[node] for node in route), types, forward))
    return described


def _strongest_edges(
    graph: GraphPort, nodes: list[int], hops: set[tuple[int, int]], edge_type_weights: Mapping[str, float] | None
) -> _Strongest:
    """The strongest edge of each hop that has one, by weight x type weight; `nodes` in order, found with one call."""
    factors = type_factors(graph.edge_types, edge_type_weights)
    visited = np.array(nodes)
    found = graph.neighbours(visited, "out")
    sources = visited.repeat(np.diff(found.offsets))
    nearest = visited[np.minimum(visited.searchsorted(found.targets), len(visited) - 1)]
    inside = (nearest == found.targets).nonzero()[0]
    columns = (sources, found.targets, found.weights, found.types)
    strongest: dict[tuple[int, int], tuple[float, str]] = {}
    for source, target, weight, code in zip(*(column[inside].tolist() for column in columns), strict=True):
        if (source, target) in hops:
            edge = (-weight * factors[code], graph.edge_types[code])
            strongest[source, target] = min(strongest.get((source, target), edge), edge)
    return strongest


def _edge(strongest: _Strongest, one: int, other: int) -> tuple[str, bool]:
    """The type of the strongest edge between two nodes, and whether it leads from the first to the second."""
    along, against = strongest.get((one, other)), strongest.get((other, one))
    if along is not None and (against is None or along[0] <= against[0]):
        return along[1], True
    return (against or (0.0, ""))[1], False


_Hop = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
"""The nodes that one hop reached, in order, and the node before each."""


def strongest_paths(
    graph: GraphPort,
    seeds: Mapping[int, float],
    targets: Iterable[int],
    *,
    max_hops: int = 4,
    decay: float = 0.8,
    breadth: int = 500,
    edge_type_weights: Mapping[str, float] | None = None,
    only_read: bool = False,
) -> dict[int, Path]:
    """For each target that can be reached, the path from a seed with the largest flow, following edges in both
    directions.

    flow = weight of the seed / largest weight x product over the hops of decay x share of the edge in the weighted
    degree of the node it leaves. Of all paths that are equally long, only the `breadth` strongest are followed.
    `reliability` is the flow. A target that is a seed itself is a path of one node. With `only_read`, paths go over
    nodes whose edges have been read before, in a graph on a server; in memory that makes no difference.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> graph = graph_from_arrays(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3.0, 1.0, 3.0]))
    >>> {target: path.words for target, path in strongest_paths(graph, {0: 1.0}, [1, 2]).items()}
    {1: '0 —relates_to→ 1', 2: '0 —relates_to→ 1 —relates_to→ 2'}
    """
    wanted = list(dict.fromkeys(targets))
    start = {node: weight for node, weight in seeds.items() if weight > 0}
    if not wanted or not start:
        return {}
    options = WalkOptions(1.0, tolerance=1e-9)
    rows = transition_rows(graph, options, TypeWeights("both", edge_type_weights))
    routes = _strongest_routes(rows, start, wanted, max_hops, decay, breadth, only_read)
    described = describe(graph, [route for route, _ in routes.values()], edge_type_weights)
    return {
        target: Path(*edges, flow, flow) for (target, (_, flow)), edges in zip(routes.items(), described, strict=True)
    }


def _strongest_routes(
    rows: TransitionRows,
    start: Mapping[int, float],
    wanted: list[int],
    max_hops: int,
    decay: float,
    breadth: int,
    only_read: bool,
) -> dict[int, tuple[list[int], float]]:
    """Route and flow of each target: at every hop, go on from the nodes that more flow has reached than before."""
    with borrowed(rows, "float64") as space:
        nodes: npt.NDArray[np.int64] = np.array(sorted(start), np.int64)
        flows = np.array([start[node] for node in nodes.tolist()]) / max(start.values())
        best, is_wanted, hop_of = space.estimate, space.residual, space.latest
        best[nodes], is_wanted[wanted], hop_of[wanted] = flows, 1, 0
        space.reached[nodes] = space.reached[wanted] = True
        previous: list[_Hop] = []
        for hop in range(1, max_hops + 1):
            if len(nodes) > breadth:  # what cannot be among the strongest need not be sorted
                candidates = best_and_ties(flows, breadth)
                nodes, flows = nodes[candidates], flows[candidates]
            strongest = np.lexsort((nodes, -flows))[:breadth]
            nodes, flows = nodes[strongest], flows[strongest]
            if only_read and rows.read_ahead:
                known = rows.is_read(nodes)
                nodes, flows = nodes[known], flows[known]
            # what is weaker than the weakest route to a target so far can never become a better one
            weakest = best[wanted].min()
            if not len(nodes) or decay * flows[0] <= weakest:
                break
            ends = is_wanted if hop == max_hops else None
            reached, sources, flows = _one_hop(rows, nodes, decay * flows, best, weakest, ends)
            previous.append((reached, sources))
            nodes = reached
            best[nodes], space.reached[nodes], hop_of[nodes] = flows, True, hop
        return {
            target: (_route(previous[: int(hop_of[target])], target), float(best[target]))
            for target in wanted
            if best[target] > 0
        }


def _one_hop(
    rows: TransitionRows,
    nodes: npt.NDArray[np.int64],
    flows: npt.NDArray[np.float64],
    best: npt.NDArray[np.floating],
    weakest: float,
    ends: npt.NDArray[np.floating] | None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The nodes one hop away that get more flow than their best so far and than `weakest`, from where, and how much.

    Of the last hop, only the `ends` matter: nodes for which that is not 0.
    """
    found = rows.transitions(nodes)
    owners = np.arange(len(nodes)).repeat(found.counts)
    targets, carried = found.targets, found.passed_on(flows)
    is_better = carried > np.maximum(best[targets], weakest)
    if ends is not None:
        is_better &= ends[targets] > 0
    better = is_better.nonzero()[0]
    targets, owners, carried = targets[better], owners[better], carried[better]
    # the best edge to each node; of equal ones, that from the stronger node, which comes first
    order = np.lexsort((-carried, targets))
    ordered = targets[order]
    first = np.ones(len(order), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    order = order[first]
    return targets[order].astype(np.int64, copy=False), nodes[owners[order]], carried[order]


def _route(previous: list[_Hop], target: int) -> list[int]:
    """The nodes that lead to a target, from the node before it at each hop."""
    route = [target]
    for reached, sources in reversed(previous):
        route.append(int(sources[np.searchsorted(reached, route[-1])]))
    return route[::-1]
