from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.path import Path, describe
from hopweave.testing.graphs import graph_from_edges

NODES = [Node.entity(name) for name in "abc"]


def test_nothing_to_describe():
    assert describe(graph_from_edges(NODES, []), []) == []


def test_the_strongest_edge_names_the_hop():
    edges = [
        Edge("entity:a", "entity:b", "enables", 1.0),  # 1.0 · 0.9
        Edge("entity:b", "entity:a", "requires", 2.0),  # 2.0 · 0.8
        Edge("entity:b", "entity:c", "part_of", 1.0),
        Edge("entity:c", "entity:b", "part_of", 1.0),
    ]
    ((nodes, types, forward),) = describe(graph_from_edges(NODES, edges), [[0, 1, 2]])
    assert nodes == tuple(NODES)
    assert types == ("requires", "part_of")
    assert forward == (False, True), "of equal edges the one along the route"
    ((_, types, _),) = describe(graph_from_edges(NODES, edges), [[0, 1]], {"enables": 1.0, "requires": 0.1})
    assert types == ("enables",)


def test_words_of_a_single_node():
    assert Path((Node.entity("Skua"),), (), (), 1.0, 1.0).words == "Skua"
