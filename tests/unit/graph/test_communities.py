import networkx as nx
import numpy as np
import pytest

from hopweave.graph.communities import communities
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges


def graph_of(other, size=None):
    sources, targets = np.array(list(other.edges())).T
    return graph_from_arrays(sources, targets, size=size or other.number_of_nodes())


def groups(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


def modularity(other, labels):
    return nx.community.modularity(other, groups(labels))


def test_too_few_edges_have_no_communities():
    assert communities(graph_from_edges([], [])) is None
    assert communities(graph_of(nx.path_graph(10))) is None, "9 edges"
    assert communities(graph_of(nx.path_graph(11))) is not None, "10 edges"


def test_cliques_in_a_ring_are_found():
    labels = communities(graph_of(nx.ring_of_cliques(6, 8)))
    assert groups(labels) == {frozenset(range(8 * clique, 8 * clique + 8)) for clique in range(6)}
    assert labels[:17].tolist() == [0] * 8 + [1] * 8 + [2], "numbered by their smallest node"


def test_planted_groups_are_found():
    other = nx.planted_partition_graph(8, 30, 0.4, 0.01, seed=2)
    assert groups(communities(graph_of(other))) == {frozenset(range(30 * part, 30 * part + 30)) for part in range(8)}


@pytest.mark.parametrize(
    "other",
    [
        nx.karate_club_graph(),
        nx.gnm_random_graph(200, 800, seed=1),
        nx.barabasi_albert_graph(500, 3, seed=1),
        nx.random_partition_graph([10, 30, 60, 100], 0.3, 0.02, seed=1),
    ],
    ids=["karate", "random", "heavy-tailed", "uneven"],
)
def test_about_as_good_as_networkx(other):
    simple = nx.Graph(other.edges())
    simple.add_nodes_from(other.nodes())
    reference = nx.community.modularity(simple, nx.community.louvain_communities(simple, seed=0))
    assert modularity(simple, communities(graph_of(simple))) >= reference - 0.02


def test_a_node_without_edges_is_its_own_community():
    labels = communities(graph_of(nx.complete_graph(6), size=8))
    assert labels.tolist() == [0] * 6 + [1, 2]


def test_weights_count():
    # two triangles joined by every possible light edge; with equal weights it is one clique
    heavy = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    light = [(one, other) for one in range(3) for other in range(3, 6)]
    sources, targets = np.array(heavy + light).T
    weights = np.array([1.0] * len(heavy) + [0.01] * len(light))
    assert communities(graph_from_arrays(sources, targets, weights)).tolist() == [0, 0, 0, 1, 1, 1]


def test_computed_once_per_graph_and_the_same_for_an_equal_one():
    other = nx.barabasi_albert_graph(300, 3, seed=4)
    graph = graph_of(other)
    assert communities(graph) is communities(graph)
    assert communities(graph).tolist() == communities(graph_of(other)).tolist()
    with pytest.raises(ValueError, match="read-only"):
        communities(graph)[0] = 1
