import numpy as np

from hopweave.graph.csr import Graph
from hopweave.graph.port import Background, GraphPort


def keep(graph: GraphPort) -> GraphPort:
    """Accepted by the type checker only if a Graph is a port."""
    return graph


def test_a_graph_in_memory_is_a_port():
    graph = keep(Graph.from_arrays(np.array([0]), np.array([1]), version=7))
    assert (graph.version, graph.size, list(graph.edge_types)) == (7, 2, ["relates_to"])
    assert graph.background("both").masses.tolist() == [0.5, 0.5]


def test_hubs_are_the_heaviest_of_their_part_and_leaks_the_dead_ends():
    parts = np.array([1, 0, 0, 0, 1])
    masses = np.array([0.4, 0.2, 0.5, 0.3, 0.6])
    background = Background.of(masses, parts, parts >= 0, np.array([True, False, False, True, False]), 2)
    assert background.hub_offsets.tolist() == [0, 2, 4]
    assert background.hubs.tolist() == [2, 3, 4, 0]
    assert background.leaks.tolist() == [0.3, 0.4]


def test_nodes_without_mass_are_no_hubs():
    parts = np.array([0, 1])
    background = Background.of(np.array([1.0, 0.0]), parts, parts == 0, parts == 1)
    assert background.hubs.tolist() == [0]
    assert background.hub_offsets.tolist() == [0, 1, 1]
