from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.neighbourhood import Neighbourhood, neighbourhood
from hopweave.testing.graphs import graph_from_edges

NODES = [Node(name, "service", name) for name in ("api", "cache", "db", "web")]
EDGES = [
    Edge("web", "api", "calls", 2.0),
    Edge("api", "db", "calls"),
    Edge("api", "cache", "uses"),
    Edge("api", "api", "calls"),
    Edge("db", "api", "notifies", 0.5),
]


def ids(nodes):
    return [node.id for node in nodes]


def around(names, graph=None, **arguments):
    graph = graph or graph_from_edges(NODES, EDGES)
    return neighbourhood(graph, graph.find(names).values(), **arguments)


def test_nothing_asked_nothing_found():
    assert around([]) == Neighbourhood((), (), ())


def test_a_node_without_edges():
    graph = graph_from_edges(NODES, [])
    assert around(["db"], graph) == Neighbourhood((), (), ())


def test_both_directions_and_every_edge_once():
    found = around(["api"])
    assert ids(found.outgoing) == ["cache", "db"], "not itself, in spite of its loop"
    assert ids(found.incoming) == ["db", "web"]
    assert found.edges == (
        Edge("api", "api", "calls", 1.0),
        Edge("api", "cache", "uses", 1.0),
        Edge("api", "db", "calls", 1.0),
        Edge("db", "api", "notifies", 0.5),
        Edge("web", "api", "calls", 2.0),
    )


def test_several_nodes_are_not_one_anothers_neighbours_but_keep_their_edges():
    found = around(["api", "db", "api"])
    assert ids(found.outgoing) == ["cache"]
    assert ids(found.incoming) == ["web"]
    assert Edge("api", "db", "calls", 1.0) in found.edges


def test_only_some_edge_types():
    found = around(["api"], edge_types={"uses", "notifies"})
    assert ids(found.outgoing) == ["cache"]
    assert ids(found.incoming) == ["db"]
    assert around(["api"], edge_types=()) == Neighbourhood((), (), ())


def test_a_graph_that_is_only_a_port_gives_the_same(plain_port):
    assert around(["api", "db"], plain_port(NODES, EDGES)) == around(["api", "db"])
