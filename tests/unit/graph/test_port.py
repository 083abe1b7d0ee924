import numpy as np

from hopweave.graph.port import GraphPort, StationaryDistribution
from hopweave.testing.graphs import graph_from_arrays


def keep(graph: GraphPort) -> GraphPort:
    """Accepted by the type checker only if a Graph is a port."""
    return graph


def test_a_graph_in_memory_is_a_port():
    graph = keep(graph_from_arrays(np.array([0]), np.array([1]), version=7))
    assert (graph.version, graph.size, list(graph.edge_types)) == (7, 2, ["relates_to"])


def test_top_nodes_are_the_most_probable_of_their_component():
    components = np.array([1, 0, 0, 0, 1])
    probabilities = np.array([0.4, 0.2, 0.5, 0.3, 0.6])
    stationary = StationaryDistribution.of(probabilities, components, components >= 0, top_per_component=2)
    assert stationary.top_offsets.tolist() == [0, 2, 4]
    assert stationary.top_nodes.tolist() == [2, 3, 4, 0]


def test_nodes_of_probability_zero_are_no_top_nodes():
    components = np.array([0, 1])
    stationary = StationaryDistribution.of(np.array([1.0, 0.0]), components, components == 0)
    assert stationary.top_nodes.tolist() == [0]
    assert stationary.top_offsets.tolist() == [0, 1, 1]
