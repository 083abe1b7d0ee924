import networkx as nx
import pytest

from hopweave.graph.build.networkx_graph import from_networkx, to_networkx
from hopweave.graph.model import Edge, Node
from hopweave.graph.storage.ledger import encoded


def test_empty():
    found = from_networkx(nx.Graph())
    assert (found.nodes, found.edges) == ((), ())
    assert to_networkx([], []).number_of_nodes() == 0


def test_attributes():
    graph = nx.MultiDiGraph()
    graph.add_node(1, kind="place", name="Harris", area=500)
    graph.add_node("doc", document_id="d7", name="Timetable")
    graph.add_edge("doc", 1, type="describes", weight=2)
    graph.add_edge("doc", 1, label="lies there")
    found = from_networkx(graph, "my-graph")
    assert found.document_id == "my-graph"
    assert found.nodes == (
        Node("place:harris", "place", "Harris", None, {"area": 500}),
        Node("passage:d7", "passage", "Timetable", "d7"),
    )
    assert found.edges == (
        Edge("passage:d7", "place:harris", "describes", 2.0),
        Edge("passage:d7", "place:harris", "relates_to", 1.0, "lies there"),
    )


def test_undirected_edges_lead_both_ways_and_loops_once():
    graph = nx.Graph([("a", "b"), ("a", "a")])
    assert sorted((edge.source, edge.target) for edge in from_networkx(graph).edges) == [
        ("entity:a", "entity:a"),
        ("entity:a", "entity:b"),
        ("entity:b", "entity:a"),
    ]


def test_out_and_in_again():
    nodes = [Node.entity("Harris", "place"), Node("passage:d", "passage", "Skua", "d", {"x": 1})]
    edges = [Edge("passage:d", "place:harris", "about", 0.5), Edge("passage:d", "place:harris", "mentions", 1.0, "m")]
    again = from_networkx(to_networkx(nodes, edges))
    assert sorted(again.nodes, key=lambda node: node.id) == sorted(nodes, key=lambda node: node.id)
    assert list(again.edges) == edges


def test_the_graph_is_not_touched():
    graph = nx.Graph([("a", "b")])
    from_networkx(graph)
    assert dict(graph.nodes(data=True)) == {"a": {}, "b": {}}


def test_bad_weight():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=-1)
    with pytest.raises(ValueError, match="weight -1"):
        encoded(from_networkx(graph))
