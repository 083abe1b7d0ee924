"""Paths through a graph, and their description in names and edge types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hopweave.graph.model import Node
from hopweave.graph.port import GraphPort
from hopweave.graph.walk.transitions import type_factors


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
