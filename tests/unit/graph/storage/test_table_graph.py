import threading

import networkx as nx
import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges


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
    graph = graph_from_edges([], [])
    assert (graph.size, graph.edge_count, graph.ids, graph.edge_types) == (0, 0, (), ())
    assert graph.neighbours(np.array([], int), "both").offsets.tolist() == [0]
    assert graph.find(["a"]) == {}
    assert graph.lookup(["a"]) == {}
    assert graph.nodes(np.array([], int)) == []


def test_one_node_has_no_neighbours():
    graph = graph_from_edges([node("a")], [])
    for direction in ("out", "in", "both"):
        assert graph.neighbours(np.array([0]), direction).targets.tolist() == []


def test_the_order_of_nodes_and_edges_does_not_matter():
    nodes = [node(name) for name in "dbca"]
    edges = [Edge("a", "b", "x", 0.1), Edge("a", "b", "x", 0.2), Edge("a", "b", "x", 0.3), Edge("c", "a", "y", 1.0)]
    one, other = graph_from_edges(nodes, edges), graph_from_edges(nodes[::-1], edges[::-1])
    assert one.ids == other.ids == ("a", "b", "c", "d")
    assert edges_of(one) == edges_of(other)


def test_parallel_edges_of_a_type_are_summed_and_types_kept_apart():
    graph = graph_from_edges(
        [node("a"), node("b")], [Edge("a", "b", "x", 1.0), Edge("a", "b", "y", 5.0), Edge("a", "b", "x", 2.0)]
    )
    assert edges_of(graph) == [("a", "x", "b", 1.0 + 2.0), ("a", "y", "b", 5.0)]


def test_edges_of_weight_zero_are_left_out():
    assert graph_from_edges([node("a"), node("b")], [Edge("a", "b", weight=0.0)]).edge_count == 0


def test_directions():
    #  a -1-> b -2-> a, a -3-> a, c -4-> a
    rows = [("a", "b", 1.0), ("b", "a", 2.0), ("a", "a", 3.0), ("c", "a", 4.0)]
    graph = graph_from_edges(
        [node(name) for name in "abc"], [Edge(one, other, weight=weight) for one, other, weight in rows]
    )

    def around(direction):
        found = graph.neighbours(np.array([0]), direction)
        return list(zip(found.targets.tolist(), found.weights.tolist(), strict=True))

    assert around("out") == [(0, 3.0), (1, 1.0)]
    assert around("in") == [(0, 3.0), (1, 2.0), (2, 4.0)]
    assert around("both") == [(0, 3.0), (1, 1.0 + 2.0), (2, 4.0)], "the self loop counts once"
    everything = graph.all_edges()
    assert everything.offsets.tolist() == [0, 2, 3, 4]
    assert everything.weights.tolist() == [3.0, 1.0, 2.0, 4.0]


def test_neighbours_come_in_the_order_asked_for():
    graph = graph_from_arrays(np.array([0, 0, 2]), np.array([1, 2, 1]), np.array([1.0, 2.0, 5.0]))
    found = graph.neighbours(np.array([2, 1, 0, 2]))
    assert found.offsets.tolist() == [0, 1, 1, 3, 4]
    assert found.targets.tolist() == [1, 1, 2, 1]


def test_lookup_finds_every_node_of_a_name():
    graph = graph_from_edges(
        [Node.entity("Łódź"), Node.passage("d1", "ŁÓDŹ"), Node.entity("北京"), Node.entity("東京")], []
    )
    assert {
        name: [graph.ids[index] for index in found] for name, found in graph.lookup(["łódź", "北 京", "x"]).items()
    } == {
        "łódź": ["entity:łódź", "passage:d1"],
        "北 京": ["entity:北京"],
    }


def test_flags_by_kind_and_by_edge_type_cannot_be_written_to():
    graph = graph_from_edges([Node.entity("Skua"), Node.passage("d")], [Edge("passage:d", "entity:skua", "about")])
    for flags in (graph.nodes_of_kind("passage"), graph.targets_of_type("about"), graph.targets_of_type("mentions")):
        with pytest.raises(ValueError, match="read-only"):
            flags[0] = True


def test_kinds_and_facts():
    graph = graph_from_edges([Node.entity("Skua"), Node.passage("d1", "Timetable")], [])
    assert [node.kind for node in graph.nodes(np.arange(2))] == ["entity", "passage"]
    assert graph.nodes(np.array([1]))[0].document_id == "d1"
    assert graph.find(["passage:d1", "passage:d2"]) == {"passage:d1": 1}


def test_cached_is_made_once_for_all_threads():
    graph, made, results = graph_from_arrays(np.array([0]), np.array([1])), [], []

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
    graph = graph_from_arrays(sources, targets, weights, size=40)
    other = nx.MultiDiGraph()
    other.add_nodes_from(range(40))
    other.add_weighted_edges_from(zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True))
    for direction in ("out", "in"):
        for index in range(40):
            near = other.successors(index) if direction == "out" else other.predecessors(index)
            assert graph.neighbours(np.array([index]), direction).targets.tolist() == sorted(set(near))
