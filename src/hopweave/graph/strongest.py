"""The strongest path from the seeds of a walk to a node it found: what a receipt tells in words."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from hopweave.graph.csr import Graph
from hopweave.graph.paths import Path, told
from hopweave.graph.port import GraphPort
from hopweave.graph.push import PortRows, Rows, WalkRows
from hopweave.graph.terms import Mask, Terms
from hopweave.graph.walk import type_factors, walk_of


def strongest_path(
    graph: GraphPort,
    seeds: Mapping[int, float],
    target: int,
    *,
    max_hops: int = 4,
    decay: float = 0.8,
    breadth: int = 500,
    edge_type_weights: Mapping[str, float] | None = None,
    allowed: Mask | None = None,
) -> Path | None:
    """The path that carries the most from any seed to one node; None if none is found.

    >>> graph = Graph.from_arrays(np.array([0, 1, 0]), np.array([1, 2, 3]))
    >>> strongest_path(graph, {0: 1.0}, 2).words
    '0 —relates_to→ 1 —relates_to→ 2'
    """
    return strongest_paths(
        graph,
        seeds,
        [target],
        max_hops=max_hops,
        decay=decay,
        breadth=breadth,
        edge_type_weights=edge_type_weights,
        allowed=allowed,
    ).get(target)


def strongest_paths(
    graph: GraphPort,
    seeds: Mapping[int, float],
    targets: Iterable[int],
    *,
    max_hops: int = 4,
    decay: float = 0.8,
    breadth: int = 500,
    edge_type_weights: Mapping[str, float] | None = None,
    allowed: Mask | None = None,
) -> dict[int, Path]:
    """For each target that can be reached, the path from a seed with the most flow, walking edges either way.

    flow = weight of the seed / largest weight x product over the hops of decay x share of the edge in the weighted
    degree of the node it leaves. Of all paths that are equally long, only the `breadth` strongest are followed.
    `reliability` is the flow. A target that is a seed itself is a path of one node.

    >>> graph = Graph.from_arrays(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([3.0, 1.0, 3.0]))
    >>> {target: path.words for target, path in strongest_paths(graph, {0: 1.0}, [1, 2]).items()}
    {1: '0 —relates_to→ 1', 2: '0 —relates_to→ 1 —relates_to→ 2'}
    """
    wanted = list(dict.fromkeys(targets))
    start = {node: weight for node, weight in seeds.items() if weight > 0 and (allowed is None or allowed[node])}
    if not wanted or not start:
        return {}
    rows: Rows
    if isinstance(graph, Graph):
        rows = WalkRows(walk_of(graph, "both", edge_type_weights), Terms(1.0, tolerance=1e-9, pull=allowed))
    else:
        rows = PortRows(graph, {"both": type_factors(graph.edge_types, edge_type_weights)}, allowed)
    ways = _ways(rows, start, wanted, max_hops, decay, breadth)
    described = told(graph, [way for way, _ in ways.values()], edge_type_weights)
    return {
        target: Path(*edges, flow, flow) for (target, (_, flow)), edges in zip(ways.items(), described, strict=True)
    }


def _ways(
    rows: Rows, start: Mapping[int, float], wanted: list[int], max_hops: int, decay: float, breadth: int
) -> dict[int, tuple[list[int], float]]:
    """Way and flow of each target: at every hop, go on from the nodes that more flow has reached than before."""
    nodes: npt.NDArray[np.int64] = np.array(sorted(start), np.int64)
    flows = np.array([start[node] for node in nodes.tolist()]) / max(start.values())
    best, hop_of = np.zeros(rows.size), np.zeros(rows.size, np.int64)
    best[nodes] = flows
    came_from: list[dict[int, int]] = []
    for hop in range(1, max_hops + 1):
        strongest = np.lexsort((nodes, -flows))[:breadth]
        nodes, flows = nodes[strongest], flows[strongest]
        if not len(nodes) or decay * flows[0] <= best[wanted].min():
            break
        onward = rows.onward(nodes)
        owners = np.repeat(np.arange(len(nodes)), onward.counts)
        targets, carried = onward.targets, decay * flows[owners] * onward.shares
        # what is weaker than the weakest way to a target so far can never become a better one
        better = np.flatnonzero(carried > np.maximum(best[targets], best[wanted].min()))
        targets, owners, carried = targets[better], owners[better], carried[better]
        # the best way to each node; of equal ones, that from the stronger node
        order = np.lexsort((owners, -carried, targets))
        order = order[np.flatnonzero(np.diff(targets[order], prepend=-1))]
        reached = targets[order].astype(np.int64)
        came_from.append(dict(zip(reached.tolist(), nodes[owners[order]].tolist(), strict=True)))
        nodes, flows = reached, carried[order]
        best[nodes], hop_of[nodes] = flows, hop
    return {
        target: (_way_back(came_from, target, int(hop_of[target])), float(best[target]))
        for target in wanted
        if best[target] > 0
    }


def _way_back(came_from: list[dict[int, int]], node: int, hop: int) -> list[int]:
    way = [node]
    for earlier in reversed(came_from[:hop]):
        way.append(earlier[way[-1]])
    return way[::-1]
