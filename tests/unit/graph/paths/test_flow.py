import os
import subprocess
import sys
import time

import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.flow import Paths, prune_paths
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges


def graph_of(*rows):
    names = sorted({name for row in rows for name in row[:2]})
    edges = [Edge(f"entity:{row[0]}", f"entity:{row[1]}", *row[2:]) for row in rows]
    return graph_from_edges([Node.entity(name) for name in names], edges)


def number(graph, name):
    return graph.find([f"entity:{name}"])[f"entity:{name}"]


def ranked(graph, **scores):
    return {number(graph, name): score for name, score in scores.items()}


def names(path):
    return [node.name for node in path.nodes]


def test_empty_one_and_unconnected():
    graph = graph_of(("a", "b"), ("c", "d"))
    assert prune_paths(graph, {}) == Paths((), True)
    assert prune_paths(graph, ranked(graph, a=1.0)) == Paths((), True)
    assert prune_paths(graph, ranked(graph, a=1.0, c=1.0)) == Paths((), True)


def test_flow_and_reliability_by_hand():
    # a - b - c with weights 1 and 3: from a: 0.8 * 1/1 * 0.8 * 3/4 = 0.48; from c: 0.8 * 1 * 0.8 * 1/4 = 0.16
    graph = graph_of(("a", "b", "relates_to", 1.0), ("b", "c", "relates_to", 3.0))
    (path,) = prune_paths(graph, ranked(graph, a=1.0, c=0.5)).paths
    assert names(path) == ["a", "b", "c"]
    assert path.flow == pytest.approx(0.8 * 0.8 * 3 / 4)
    # node scores 1, 0, 0.5 (b has none); the only flow is the largest
    assert path.reliability == pytest.approx(0.6 * (1 + 0 + 0.5) / 3 + 0.4 * 1)


def test_of_the_two_directions_the_one_with_more_flow_counts():
    graph = graph_of(("a", "b", "relates_to", 3.0), ("b", "c", "relates_to", 1.0))
    (path,) = prune_paths(graph, ranked(graph, a=1.0, c=0.5)).paths
    assert names(path) == ["c", "b", "a"]


def test_a_hub_thins_the_flow_out_where_a_side_road_does_not():
    # a and z meet at a hub with 100 others, and at a quiet place
    crowd = [("hub", f"x{index}") for index in range(100)]
    graph = graph_of(("a", "hub"), ("hub", "z"), ("a", "quiet"), ("quiet", "z"), *crowd)
    found = prune_paths(graph, ranked(graph, a=1.0, z=1.0))
    assert [names(path) for path in found.paths] == [["a", "quiet", "z"]], "0.8 * 1/2 * 0.8 * 1/102 < 0.01"
    loose = prune_paths(graph, ranked(graph, a=1.0, z=1.0), threshold=0.0)
    assert ["a", "hub", "z"] in [names(path) for path in loose.paths]
    assert names(loose.paths[0]) == ["a", "quiet", "z"]


def test_a_direct_edge_beats_its_detours():
    # PathRAG scores the direct edge lowest here
    detours = [(start, f"m{index}") for index in range(4) for start in ("a", "z")]
    graph = graph_of(("a", "z"), *detours)
    best = prune_paths(graph, ranked(graph, a=1.0, z=1.0)).paths[0]
    assert names(best) == ["a", "z"]
    assert best.flow == pytest.approx(0.8 / 5)


def test_hops_endpoints_and_number_of_paths_are_limited():
    chain = graph_of(("a", "b"), ("b", "c"), ("c", "d"), ("d", "e"), ("e", "f"))
    ends = ranked(chain, a=1.0, f=1.0)
    assert prune_paths(chain, ends).paths == ()
    assert len(prune_paths(chain, ends, max_hops=5).paths) == 1
    every = {node: 1.0 - node / 10 for node in range(chain.size)}
    assert len(prune_paths(chain, every, top_k=3).paths) == 3
    assert [names(path) for path in prune_paths(chain, every, max_endpoints=2).paths] == [["a", "b"]]


def test_nodes_with_no_score_are_no_endpoints():
    graph = graph_of(("a", "b"), ("b", "c"))
    assert prune_paths(graph, ranked(graph, a=1.0, b=0.0)).paths == ()


def test_paths_over_the_same_nodes_in_another_order_are_two_paths():
    graph = graph_of(("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"))
    found = [names(path) for path in prune_paths(graph, ranked(graph, s=1.0, t=1.0), threshold=0.0).paths]
    assert ["s", "a", "b", "t"] in found
    assert ["s", "b", "a", "t"] in found


def test_a_path_never_visits_a_node_twice():
    graph = graph_of(("a", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"))
    for path in prune_paths(graph, dict.fromkeys(range(graph.size), 1.0), threshold=0.0).paths:
        assert len(set(names(path))) == len(path.nodes)


def test_parallel_edges_carry_together_and_the_strongest_names_the_hop():
    graph = graph_of(("a", "b", "requires", 1.0), ("a", "b", "enables", 1.0), ("b", "a", "implements", 0.5), ("a", "c"))
    path = next(path for path in prune_paths(graph, ranked(graph, a=1.0, b=1.0, c=0.1)).paths if len(path.nodes) == 2)
    # enables 0.9 beats requires 0.8 and implements 0.5 * 1.0; b has no edges but those
    assert (path.edge_types, path.flow) == (("enables",), pytest.approx(0.8))


def test_edges_are_followed_in_both_directions_and_words_show_which():
    graph = graph_of(("ferry", "harbour", "sails_to"), ("island", "harbour", "part_of"))
    (path,) = prune_paths(graph, ranked(graph, ferry=1.0, island=0.9)).paths
    assert path.words in {
        "ferry —sails_to→ harbour ←part_of— island",
        "island —part_of→ harbour ←sails_to— ferry",
    }
    assert len(path.forward) == len(path.edge_types) == 2


def test_edge_type_weights():
    graph = graph_of(("a", "b", "likes"), ("b", "c", "likes"), ("a", "d", "knows"), ("d", "c", "knows"))
    ends = ranked(graph, a=1.0, c=1.0)
    only = prune_paths(graph, ends, edge_type_weights={"likes": 0.0, "knows": 1.0})
    assert [names(path) for path in only.paths] == [["a", "d", "c"]]


def test_passages_and_text_with_the_best_last():
    nodes = [Node.passage("d1", "Timetable"), Node.passage("d2", "Fleet"), Node.entity("Skua")]
    edges = [Edge("passage:d1", "entity:skua", "mentions"), Edge("passage:d2", "entity:skua", "mentions", 3.0)]
    graph = graph_from_edges(nodes, edges)
    found = prune_paths(graph, {graph.ids.index("passage:d1"): 0.2, graph.ids.index("passage:d2"): 1.0, 0: 0.9})
    assert names(found.paths[0]) == ["Fleet", "Skua"]
    assert found.document_ids == ("d2", "d1")
    assert found.text.splitlines()[-1] == found.paths[0].words == "Fleet —mentions→ Skua"
    assert len(found.text.splitlines()) == len(found.paths) == 3


def test_a_graph_that_is_only_a_port_gives_the_same(plain_port):
    nodes = [Node.entity(name) for name in "abcde"]
    edges = [
        Edge("entity:a", "entity:b", "enables", 2.0),
        Edge("entity:a", "entity:b", "requires", 1.0),
        Edge("entity:b", "entity:c", "part_of", 3.0),
        Edge("entity:c", "entity:a", "part_of", 1.0),
        Edge("entity:c", "entity:c", "part_of", 1.0),
        Edge("entity:d", "entity:c", "requires", 1.0),
    ]
    scores = {0: 1.0, 2: 0.7, 3: 0.4, 4: 0.2}
    one, other = prune_paths(graph_from_edges(nodes, edges), scores), prune_paths(plain_port(nodes, edges), scores)
    assert [names(path) for path in one.paths] == [names(path) for path in other.paths]
    assert [path.flow for path in one.paths] == pytest.approx([path.flow for path in other.paths])


def clique(size):
    pairs = np.argwhere(np.triu(np.ones((size, size), bool), 1))
    return graph_from_arrays(pairs[:, 0], pairs[:, 1], size=size)


def test_a_deadline_gives_the_best_so_far_and_says_so():
    graph = clique(1500)
    begin = time.perf_counter()
    found = prune_paths(graph, dict.fromkeys(range(8), 1.0), threshold=0.0, time_budget_seconds=0.1)
    assert time.perf_counter() - begin < 10.0, "generous: the machine may be busy"
    assert not found.finished
    assert len(found.paths) == 15


def test_work_is_bounded_without_a_deadline():
    graph = clique(60)
    found = prune_paths(graph, {0: 1.0, 1: 1.0}, threshold=0.0, max_branches=50, time_budget_seconds=None)
    assert not found.finished
    assert names(found.paths[0]) == ["0", "1"]


def test_at_the_usual_threshold_a_clique_is_done_at_once():
    found = prune_paths(clique(200), dict.fromkeys(range(8), 1.0))
    assert found == Paths((), True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_endpoints": 0}, "max_endpoints: 0 is not allowed"),
        ({"max_hops": 0}, "max_hops: 0 is not allowed"),
        ({"top_k": 0}, "top_k: 0 is not allowed"),
        ({"threshold": -0.1}, "threshold: -0.1"),
        ({"decay": 0.0}, "decay: 0.0"),
    ],
)
def test_bad_arguments_say_what_is_allowed(arguments, message):
    with pytest.raises(ValueError, match=message):
        prune_paths(graph_of(("a", "b")), {0: 1.0, 1: 1.0}, **arguments)


SCRIPT = """
import numpy as np
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges
from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.flow import prune_paths
from hopweave.graph.paths.path import strongest_paths
rng = np.random.default_rng(5)
names = [f"n{index}" for index in range(60)]
pairs = {(names[a], names[b]) for a, b in rng.integers(0, 60, (200, 2)).tolist()}
kinds = ["enables", "requires", "part_of"]
graph = graph_from_edges({Node.entity(name) for name in names},
                    {Edge(f"entity:{a}", f"entity:{b}", kinds[len(a + b) % 3]) for a, b in pairs})
found = prune_paths(graph, {node: 1.0 for node in range(12)})
print(found.text, [path.flow for path in found.paths], [path.reliability for path in found.paths])
print([path.words for path in strongest_paths(graph, {0: 1.0, 1: 1.0}, range(60)).values()])
"""


@pytest.mark.slow
def test_the_same_whatever_the_hash_seed():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1
    assert "→" in outputs.pop()
