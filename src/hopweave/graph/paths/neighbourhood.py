"""The neighbourhood of some nodes: what they point to, what points to them, and the edges that say so."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from hopweave.graph.model import Edge, Node
from hopweave.graph.port import Direction, GraphPort


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The nodes that some nodes point to, those that point to them, and all edges of these nodes.

    Nodes and edges are ordered by id; the nodes asked about are not their own neighbours.
    """

    outgoing: tuple[Node, ...]
    incoming: tuple[Node, ...]
    edges: tuple[Edge, ...]


def neighbourhood(
    graph: GraphPort, nodes: Iterable[int], *, edge_types: Collection[str] | None = None
) -> Neighbourhood:
    """What is one edge away from these nodes, in either direction, over all edge types or the ones named.

    >>> from hopweave.testing.graphs import graph_from_edges
    >>> graph = graph_from_edges(
    ...     [Node(id_, "service", id_) for id_ in ("api", "db", "web")],
    ...     [Edge("web", "api", "calls"), Edge("api", "db", "calls")],
    ... )
    >>> around = neighbourhood(graph, graph.find(["api"]).values())
    >>> [node.name for node in around.outgoing], [node.name for node in around.incoming]
    (['db'], ['web'])
    >>> [(edge.source, edge.target) for edge in around.edges]
    [('api', 'db'), ('web', 'api')]
    """
    asked = sorted(set(nodes))
    if not asked:
        return Neighbourhood((), (), ())
    leaving, arriving = (_pairs(graph, asked, direction, edge_types) for direction in ("out", "in"))
    pairs = {**leaving, **{(target, source, name): weight for (source, target, name), weight in arriving.items()}}
    numbers = sorted({*asked, *(node for one, other, _ in pairs for node in (one, other))})
    known = dict(zip(numbers, graph.nodes(np.array(numbers)), strict=True))
    edges = [Edge(known[one].id, known[other].id, name, weight) for (one, other, name), weight in pairs.items()]
    return Neighbourhood(
        _sorted(known[target] for target in {other for _, other, _ in leaving} - set(asked)),
        _sorted(known[source] for source in {other for _, other, _ in arriving} - set(asked)),
        tuple(sorted(edges, key=lambda edge: (edge.source, edge.target, edge.type))),
    )


def _pairs(
    graph: GraphPort, asked: list[int], direction: Direction, edge_types: Collection[str] | None
) -> dict[tuple[int, int, str], float]:
    """Weight by the node asked about, its neighbour and the edge type."""
    found = graph.neighbours(np.array(asked), direction)
    owners = np.repeat(np.array(asked), np.diff(found.offsets)).tolist()
    pairs = {}
    for owner, other, weight, code in zip(
        owners, found.targets.tolist(), found.weights.tolist(), found.types.tolist(), strict=True
    ):
        name = graph.edge_types[code]
        if edge_types is None or name in edge_types:
            pairs[owner, other, name] = weight
    return pairs


def _sorted(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.id))
