import threading

import networkx as nx
import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.storage.csr import Graph


def node(id_):
    return Node(id_, "entity", id_)


def edges_of(graph):
    found = graph.neighbours(np.arange(graph.size), "out")
    sources = np.repeat(np.arange(graph.size), np.diff(found.offsets))
    return [
        (graph.ids[source], graph.edge_types[code], graph.ids[target], weight)
        for source, target, weight, code in zip(sources, found.targets, found.weights, found.types, strict=True)
    ]


def test_nothing_makes_an_empty_graph():
    graph = Graph.build([], [])
    assert (graph.size, graph.edge_count, graph.ids, graph.edge_types) == (0, 0, (), ())
    assert graph.neighbours(np.array([], int), "both").offsets.tolist() == [0]
    assert graph.find(["a"]) == {}
    assert graph.lookup(["a"]) == {}
    assert graph.nodes(np.array([], int)) == []


def test_one_node_has_no_neighbours():
    graph = Graph.build([node("a")], [])
    for direction in ("out", "in", "both"):
        assert graph.neighbours(np.array([0]), direction).targets.tolist() == []


def test_the_order_of_nodes_and_edges_does_not_matter():
    nodes = [node(name) for name in "dbca"]
    edges = [Edge("a", "b", "x", 0.1), Edge("a", "b", "x", 0.2), Edge("a", "b", "x", 0.3), Edge("c", "a", "y", 1.0)]
    one, other = Graph.build(nodes, edges), Graph.build(nodes[::-1], edges[::-1])
    assert one.ids == other.ids == ("a", "b", "c", "d")
    assert edges_of(one) == edges_of(other)


def test_parallel_edges_of_a_type_are_summed_and_types_kept_apart():
    graph = Graph.build(
        [node("a"), node("b")], [Edge("a", "b", "x", 1.0), Edge("a", "b", "y", 5.0), Edge("a", "b", "x", 2.0)]
    )
    assert edges_of(graph) == [("a", "x", "b", 1.0 + 2.0), ("a", "y", "b", 5.0)]


def test_edges_of_weight_zero_are_left_out():
    assert Graph.build([node("a"), node("b")], [Edge("a", "b", weight=0.0)]).edge_count == 0


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_a_bad_weight_names_the_edge(weight):
    with pytest.raises(ValueError, match=r"edge 'a' -relates_to-> 'b': weight .* is not allowed"):
        Graph.build([node("a"), node("b")], [Edge("a", "b", weight=weight)])
    with pytest.raises(ValueError, match=r"edge '0' -relates_to-> '1': weight .* is not allowed"):
        Graph.from_arrays(np.array([0]), np.array([1]), np.array([weight]))


@pytest.mark.parametrize(("source", "target", "missing"), [("a", "x", "x"), ("x", "a", "x")])
def test_an_edge_to_nowhere_names_the_edge_and_the_end(source, target, missing):
    with pytest.raises(ValueError, match=f"edge '{source}' -relates_to-> '{target}': there is no node '{missing}'"):
        Graph.build([node("a")], [Edge(source, target)])


def test_of_two_nodes_with_one_id_the_smaller_stays():
    nodes = [Node("a", "entity", "NASA"), Node("a", "entity", "Nasa"), Node("a", "agency", "Nasa")]
    for order in (nodes, nodes[::-1]):
        assert Graph.build(order, []).nodes(np.array([0])) == [Node("a", "agency", "Nasa")]


def test_directions():
    #  a -1-> b -2-> a, a -3-> a, c -4-> a
    rows = [("a", "b", 1.0), ("b", "a", 2.0), ("a", "a", 3.0), ("c", "a", 4.0)]
    graph = Graph.build(
        [node(name) for name in "abc"], [Edge(one, other, weight=weight) for one, other, weight in rows]
    )

    def around(direction):
        found = graph.neighbours(np.array([0]), direction)
        return list(zip(found.targets.tolist(), found.weights.tolist(), strict=True))

    assert around("out") == [(0, 3.0), (1, 1.0)]
    assert around("in") == [(0, 3.0), (1, 2.0), (2, 4.0)]
    assert around("both") == [(0, 3.0), (1, 1.0), (1, 2.0), (2, 4.0)], "the self loop counts once"
    assert graph.neighbours(np.array([0]), "out").degrees.tolist() == [3 + 1, 2]
    assert graph.neighbours(np.array([0]), "in").degrees.tolist() == [3 + 2 + 4, 1, 0]
    assert graph.neighbours(np.array([0]), "both").degrees.tolist() == [3 + 1 + 2 + 4, 1 + 2, 1 + 2, 4]
    both = graph.adjacency("both")
    assert both.weights[both.indptr[0] : both.indptr[1]].tolist() == [3.0, 1.0 + 2.0, 4.0], "one type, one edge"


def test_neighbours_come_in_the_order_asked_for_with_degrees_of_their_ends():
    graph = Graph.from_arrays(np.array([0, 0, 2]), np.array([1, 2, 1]), np.array([1.0, 2.0, 5.0]))
    found = graph.neighbours(np.array([2, 1, 0, 2]))
    assert found.offsets.tolist() == [0, 1, 1, 3, 4]
    assert found.targets.tolist() == [1, 1, 2, 1]
    assert found.degrees.tolist() == [0.0, 0.0, 5.0, 0.0]


def test_lookup_finds_every_node_of_a_name():
    graph = Graph.build([Node.entity("Łódź"), Node.passage("d1", "ŁÓDŹ"), Node.entity("北京"), Node.entity("東京")], [])
    assert {
        name: [graph.ids[index] for index in found] for name, found in graph.lookup(["łódź", "北 京", "x"]).items()
    } == {
        "łódź": ["entity:łódź", "passage:d1"],
        "北 京": ["entity:北京"],
    }


def test_flags_by_kind_and_by_edge_type_cannot_be_written_to():
    graph = Graph.build([Node.entity("Skua"), Node.passage("d")], [Edge("passage:d", "entity:skua", "about")])
    for flags in (graph.nodes_of_kind("passage"), graph.targets_of_type("about"), graph.targets_of_type("mentions")):
        with pytest.raises(ValueError, match="read-only"):
            flags[0] = True


def test_kinds_and_facts():
    graph = Graph.build([Node.entity("Skua"), Node.passage("d1", "Timetable")], [])
    assert graph.kinds.tolist() == ["entity", "passage"]
    assert graph.nodes(np.array([1]))[0].document_id == "d1"
    assert graph.find(["passage:d1", "passage:d2"]) == {"passage:d1": 1}


def test_arrays_without_nodes_are_numbered():
    graph = Graph.from_arrays(np.array([0]), np.array([2]))
    assert graph.ids == ("0", "1", "2")
    assert graph.nodes(np.array([2])) == [Node("2", "node", "2")]
    assert graph.kinds.tolist() == ["node"] * 3
    assert graph.lookup(["2"]) == {"2": (2,)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sources": [0], "targets": [1, 2]}, "one entry per edge"),
        ({"sources": [0], "targets": [-1]}, "targets must lie between 0 and 0"),
        ({"sources": [0], "targets": [5], "size": 3}, "targets must lie between 0 and 2; found 5 to 5"),
        ({"sources": [0], "targets": [1], "types": np.array([1])}, "types must lie between 0 and 0"),
        ({"sources": [], "targets": [], "nodes": [node("a")], "size": 2}, "nodes has 1 entries for a graph of size 2"),
    ],
)
def test_arrays_that_do_not_fit_are_an_error(arguments, message):
    sources, targets = np.array(arguments.pop("sources"), int), np.array(arguments.pop("targets"), int)
    with pytest.raises(ValueError, match=message):
        Graph.from_arrays(sources, targets, **arguments)


def test_nothing_can_be_written_to():
    graph = Graph.from_arrays(np.array([0]), np.array([1]))
    for direction in ("out", "in", "both"):
        with pytest.raises(ValueError, match="read-only"):
            graph.adjacency(direction).weights[0] = 2.0


def test_what_is_handed_in_stays_as_it_was():
    sources, weights = np.array([1, 0]), np.array([1.0, 2.0])
    graph = Graph.from_arrays(sources, np.array([0, 1]), weights)
    weights[0] = 7.0
    assert sources.tolist() == [1, 0]
    assert graph.neighbours(np.array([0, 1])).weights.tolist() == [2.0, 1.0]


def test_cached_is_made_once_for_all_threads():
    graph, made, results = Graph.from_arrays(np.array([0]), np.array([1])), [], []

    def make():
        made.append(1)
        return object()

    threads = [threading.Thread(target=lambda: results.append(graph.cached("thing", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, results))) == 1


def test_incoming_edges_agree_with_networkx():
    rng = np.random.default_rng(3)
    sources, targets, weights = rng.integers(0, 40, 200), rng.integers(0, 40, 200), rng.uniform(0.1, 2, 200)
    graph = Graph.from_arrays(sources, targets, weights, size=40)
    other = nx.MultiDiGraph()
    other.add_nodes_from(range(40))
    other.add_weighted_edges_from(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))
    for direction, degree in (("out", other.out_degree), ("in", other.in_degree)):
        found = graph.neighbours(np.arange(40), direction)
        assert found.degrees == pytest.approx([degree(index, weight="weight") for index in found.targets.tolist()])
        for index in range(40):
            near = other.successors(index) if direction == "out" else other.predecessors(index)
            assert graph.neighbours(np.array([index]), direction).targets.tolist() == sorted(set(near))
