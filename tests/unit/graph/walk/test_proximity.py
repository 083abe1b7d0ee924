import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.walk.proximity import graph_boost, intent_edge_scores
from hopweave.testing.graphs import graph_from_edges


def graph_of(*rows):
    names = sorted({name for row in rows for name in row[:2]})
    return graph_from_edges([Node(name, "entity", name) for name in names], [Edge(*row) for row in rows])


def by_name(graph, scores):
    return {graph.ids[node]: score for node, score in scores.items()}


def boost(graph, seeds, **arguments):
    return by_name(graph, graph_boost(graph, graph.find(seeds).values(), **arguments))


def intent(graph, seeds, edge_types, **arguments):
    return by_name(graph, intent_edge_scores(graph, graph.find(seeds).values(), edge_types, **arguments))


SMALL = graph_of(
    ("a", "b", "enables", 1.0),  # 1.0 * 0.9
    ("c", "a", "implements", 2.0),  # 2.0 * 1.0
    ("b", "d", "part_of", 1.0),
    ("e", "d", "part_of", 1.0),
)


def test_no_seeds_or_no_edges():
    assert boost(SMALL, []) == {}
    assert boost(graph_from_edges([Node("a", "entity", "a")], []), ["a"]) == {}
    assert graph_boost(graph_from_edges([], []), []) == {}


def test_one_hop_by_hand():
    # b: 0.9 forward; c: 0.7 * 2.0 backward = 1.4, the maximum; fewer than 20 edges, so no PageRank
    assert boost(SMALL, ["a"]) == pytest.approx({"c": 1.0, "b": 0.9 / 1.4})


def test_edges_to_several_seeds_add_up():
    graph = graph_of(("a", "x", "relates_to"), ("b", "x", "relates_to"), ("a", "y", "relates_to"))
    assert boost(graph, ["a", "b"]) == pytest.approx({"x": 1.0, "y": 0.5})


def test_a_seed_is_scored_only_by_other_seeds():
    graph = graph_of(("a", "a", "enables"), ("a", "b", "enables"))
    assert boost(graph, ["a"]) == {"b": 1.0}
    assert boost(graph, ["a", "b"]) == pytest.approx({"b": 1.0, "a": 0.7})
    assert boost(graph, ["a", "a"]) == {"b": 1.0}


def test_two_hops_by_hand():
    # d is a neighbour of b: flat 0.15 before dividing by the maximum 1.4; e is three hops away
    assert boost(SMALL, ["a"], two_hops=True) == pytest.approx({"c": 1.0, "b": 0.9 / 1.4, "d": 0.15 / 1.4})


def test_the_second_hop_starts_from_the_best_twenty():
    rows = [("a", f"n{index:02}", "relates_to", 30.0 - index) for index in range(25)]
    beyond = [(f"n{index:02}", f"z{index:02}", "relates_to") for index in range(25)]
    found = boost(graph_of(*rows, *beyond), ["a"], two_hops=True)
    assert {name for name in found if name.startswith("z")} == {f"z{index:02}" for index in range(20)}


def test_the_second_hop_does_not_come_back_to_the_seeds():
    graph = graph_of(("a", "b", "enables"), ("b", "c", "enables"))
    assert set(boost(graph, ["a"], two_hops=True)) == {"b", "c"}


def test_from_twenty_edges_on_pagerank_joins_in():
    # a points to x and y alike; 20 others point to x, so x is central
    rows = [("a", "x", "enables"), ("a", "y", "enables")]
    few = graph_of(*rows, *((f"o{index:02}", "x", "enables") for index in range(17)))
    assert boost(few, ["a"]) == {"x": 1.0, "y": 1.0}, "19 edges"
    many = graph_of(*rows, *((f"o{index:02}", "x", "enables") for index in range(20)))
    found = boost(many, ["a"])
    # PageRank by visits: base 1 each; y = 1 + 0.85 / 2, x = 1 + 0.85 / 2 + 20 * 0.85
    x, y = 1 + 0.425 + 17, 1 + 0.425
    assert found == pytest.approx({"x": 1.0, "y": 0.7 + 0.3 * y / x}, abs=1e-4)


def test_edge_type_weights_replace_the_usual_ones():
    assert boost(SMALL, ["a"], edge_type_weights={"implements": 0.0, "enables": 1.0}) == {"b": 1.0}
    # a type that is not listed counts 0.5
    assert boost(SMALL, ["a"], edge_type_weights={}) == pytest.approx({"c": 1.0, "b": 0.5 / (0.7 * 2 * 0.5)})


def test_intent_edges_by_hand():
    graph = graph_of(
        ("a", "b", "fixes", 9.0),  # the weight of an edge does not count here
        ("b2", "a", "causes", 1.0),
        ("a", "b2", "fixes", 1.0),
        ("a", "c", "relates_to", 1.0),
        ("a", "a", "fixes", 1.0),
    )
    # b: 1.0; b2: 1.0 + 0.7, the maximum; c: another type; a: only its own loop
    assert intent(graph, ["a"], ["fixes", "causes"]) == pytest.approx({"b2": 1.0, "b": 1.0 / 1.7})
    assert intent(graph, ["a"], []) == {}
    assert intent(graph, ["a"], ["unheard_of"]) == {}
    assert intent(graph, [], ["fixes"]) == {}


def test_ties_go_by_number_and_the_best_comes_first():
    graph = graph_of(("a", "z", "fixes"), ("a", "y", "fixes"), ("x", "a", "fixes"))
    assert list(intent(graph, ["a"], ["fixes"])) == ["y", "z", "x"]
    assert list(boost(graph, ["a"])) == ["y", "z", "x"]


def test_intent_edges_of_a_graph_that_is_only_a_port(plain_port):
    nodes = [Node(name, "entity", name) for name in "abc"]
    edges = [Edge("a", "b", "fixes"), Edge("c", "a", "fixes")]
    assert intent_edge_scores(plain_port(nodes, edges), [0], ["fixes"]) == {1: 1.0, 2: 0.7}
