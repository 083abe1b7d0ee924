"""Scores of the neighbours of seed nodes: proximity with PageRank, and edges of preferred types."""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from hopweave.errors import HopweaveError
from hopweave.graph.port import Direction, GraphPort
from hopweave.graph.walk.personalised_pagerank import power_iteration
from hopweave.graph.walk.transitions import TypeWeights, type_factors, weight_matrix

FORWARD, BACKWARD = 1.0, 0.7
"""What an edge counts from a seed to a node, and from a node to a seed."""

SECOND_HOP, SECOND_HOP_FROM = 0.15, 20
"""What a node counts two hops away, and how many of the best nodes one hop away lead there."""

MIN_EDGES_FOR_PAGERANK = 20


def graph_boost(
    graph: GraphPort,
    seeds: Iterable[int],
    *,
    two_hops: bool = False,
    edge_type_weights: Mapping[str, float] | None = None,
    central_in: GraphPort | None = None,
) -> dict[int, float]:
    """How near nodes are to the seeds, and how central: scores in (0, 1], best first.

    proximity = sum over the edges between a node and the seeds of weight x type weight, x 1.0 if the edge leads to
    the node, x 0.7 if it leads to the seed. With `two_hops`, neighbours of the best 20 of these that are none
    themselves count 0.15. Score = 0.7 x proximity + 0.3 x PageRank, both divided by their maximum over the nodes
    found, and the sum again; without PageRank below 20 edges. An edge from a seed to itself does not count.
    `central_in` is the graph whose PageRank counts, if `graph` is a view of a part of it.

    >>> from hopweave.graph.model import Edge, Node
    >>> from hopweave.testing.graphs import graph_from_edges
    >>> graph = graph_from_edges(
    ...     [Node.entity(name) for name in "abc"],
    ...     [Edge("entity:a", "entity:b", "enables"), Edge("entity:c", "entity:a", "requires")],
    ... )
    >>> {graph.ids[node]: round(score, 3) for node, score in graph_boost(graph, [0]).items()}
    {'entity:b': 1.0, 'entity:c': 0.622}
    """
    factors = np.array(type_factors(graph.edge_types, edge_type_weights))
    starts = np.unique(np.array(list(seeds), np.int64))
    proximity = _edge_sums(graph, starts, factors)
    if two_hops:
        best = np.flatnonzero(proximity > 0)
        best = best[np.lexsort((best, -proximity[best]))][:SECOND_HOP_FROM]
        beyond = (_edge_sums(graph, best, factors) > 0) & (proximity == 0)
        beyond[starts] = False
        proximity[beyond] = SECOND_HOP
    found = np.flatnonzero(proximity > 0)
    if not len(found):
        return {}
    scores = proximity[found] / proximity[found].max()
    whole = central_in or graph
    edges = whole.all_edges()
    if edges is None:
        raise HopweaveError("PageRank without seeds needs all edges of a graph in memory")
    if len(edges.targets) >= MIN_EDGES_FOR_PAGERANK:
        central = _pagerank(whole, edge_type_weights)[found]
        scores = 0.7 * scores + 0.3 * central / central.max()
    return _best_first(found, scores)


def intent_edge_scores(graph: GraphPort, seeds: Iterable[int], edge_types: Collection[str]) -> dict[int, float]:
    """Nodes that the seeds reach over edges of the given types: scores in (0, 1], best first.

    Score = 1.0 for every edge from a seed to the node and 0.7 for every edge from the node to a seed, divided by the
    maximum. An edge from a seed to itself does not count.

    >>> from hopweave.graph.model import Edge, Node
    >>> from hopweave.testing.graphs import graph_from_edges
    >>> graph = graph_from_edges(
    ...     [Node.entity(name) for name in "abc"],
    ...     [Edge("entity:a", "entity:b", "fixes"), Edge("entity:c", "entity:a", "causes")],
    ... )
    >>> {graph.ids[node]: score for node, score in intent_edge_scores(graph, [0], ["fixes", "causes"]).items()}
    {'entity:b': 1.0, 'entity:c': 0.7}
    """
    preferred = np.array([float(name in edge_types) for name in graph.edge_types])
    sums = _edge_sums(graph, np.unique(np.array(list(seeds), np.int64)), preferred, by_weight=False)
    found = np.flatnonzero(sums > 0)
    return _best_first(found, sums[found]) if len(found) else {}


def _edge_sums(
    graph: GraphPort,
    nodes: npt.NDArray[np.int64],
    factors: npt.NDArray[np.float64],
    *,
    by_weight: bool = True,
) -> npt.NDArray[np.float64]:
    """For every node, what the edges between it and these nodes sum up to."""
    sums = np.zeros(graph.size)
    directions: tuple[tuple[Direction, float], ...] = (("out", FORWARD), ("in", BACKWARD))
    for direction, factor in directions if len(nodes) else ():
        found = graph.neighbours(nodes, direction)
        apart = found.targets != np.repeat(nodes, np.diff(found.offsets))
        weights = found.weights if by_weight else np.ones(len(found.targets))
        amounts = factor * weights * factors[found.types] * apart
        np.add.at(sums, found.targets, amounts)
    return sums


def _pagerank(graph: GraphPort, edge_type_weights: Mapping[str, float] | None) -> npt.NDArray[np.float64]:
    """PageRank without seeds, along the edges; once per graph and edge-type weights."""
    weights = TypeWeights("out", edge_type_weights)
    everywhere = np.ones(graph.size)
    return graph.cached(
        ("pagerank", weights.key), lambda: power_iteration(weight_matrix(graph, weights), everywhere, tolerance=1e-6)
    )


def _best_first(nodes: npt.NDArray[np.int64], scores: npt.NDArray[np.float64]) -> dict[int, float]:
    order = np.lexsort((nodes, -scores))
    return dict(zip(nodes[order].tolist(), (scores[order] / scores.max()).tolist(), strict=True))
