import threading
import time

import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.walk.personalised_pagerank import PageRankScores, personalised_pagerank
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges

EXACT = {"tolerance": 1e-10}


def graph_of(*pairs, size=None):
    """Edges (source, target) or (source, target, weight)."""
    rows = [(*pair, 1.0)[:3] for pair in pairs]
    sources, targets, weights = zip(*rows, strict=True) if rows else ((), (), ())
    return graph_from_arrays(np.array(sources, int), np.array(targets, int), np.array(weights, float), size=size)


def scores_of(answer):
    return dict(zip(answer.nodes.tolist(), answer.scores.tolist(), strict=True))


def same(answer, expected):
    assert scores_of(answer) == pytest.approx(expected, abs=1e-8)


def test_an_empty_graph_has_no_answer():
    answer = personalised_pagerank(graph_from_edges([], []), {"a": 1.0})
    assert (len(answer.nodes), answer.rounds, answer.finished, answer.prominence) == (0, 0, True, 0.0)


def test_one_node_has_everything():
    same(personalised_pagerank(graph_of(size=1), {0: 1.0}, **EXACT), {0: 1.0})


@pytest.mark.parametrize("seeds", [{}, {"entity:nobody": 1.0}, {0: 0.0}])
def test_no_seeds_no_hits(seeds):
    graph = graph_of((0, 1), (1, 2))
    assert len(personalised_pagerank(graph, seeds).nodes) == 0


def test_two_nodes_by_hand():
    # x0 = 0.5 + 0.5 x1 and x1 = 0.5 x0, so x0 = 0.5 / (1 - 0.25) = 2/3
    same(personalised_pagerank(graph_of((0, 1)), {0: 1.0}, restart=0.5, **EXACT), {0: 2 / 3, 1: 1 / 3})


def test_parallel_edges_count_as_their_sum():
    apart = personalised_pagerank(graph_of((0, 1), (0, 1), (0, 2)), {0: 1.0}, **EXACT)
    summed = personalised_pagerank(graph_of((0, 1, 2.0), (0, 2, 1.0)), {0: 1.0}, **EXACT)
    assert scores_of(apart) == pytest.approx(scores_of(summed))


def test_other_parts_of_the_graph_are_never_reached():
    graph = graph_of((0, 1), (2, 3), (3, 4))
    for tolerance in (0.03, 1e-10):
        answer = personalised_pagerank(graph, {0: 1.0}, tolerance=tolerance)
        assert sorted(answer.nodes.tolist()) == [0, 1]
        assert answer.scores.sum() == pytest.approx(1.0, abs=0.01)


def test_seeds_in_two_parts_keep_their_shares():
    answer = scores_of(personalised_pagerank(graph_of((0, 1), (2, 3)), {0: 3.0, 2: 1.0}))
    assert answer[0] + answer[1] == pytest.approx(0.75, abs=0.02)
    assert answer[2] + answer[3] == pytest.approx(0.25, abs=0.02)


def test_a_seed_without_edges():
    # an isolated seed is dangling: every visit goes back to the seeds; visits 1 : 1 / restart
    answer = scores_of(personalised_pagerank(graph_of((0, 1), size=3), {2: 1.0, 0: 1.0}, **EXACT))
    assert answer[2] / (answer[0] + answer[1]) == pytest.approx(0.15)


def test_edges_of_weight_zero_are_not_walked():
    same(
        personalised_pagerank(graph_of((0, 1, 1.0), (0, 2, 0.0)), {0: 1.0}, restart=0.5, **EXACT),
        {0: 2 / 3, 1: 1 / 3},
    )


def test_a_hub_of_a_hundred_thousand():
    leaves = np.arange(1, 100_001)
    star = graph_from_arrays(np.zeros(len(leaves), int), leaves)
    answer = personalised_pagerank(star, {7: 1.0}, restart=0.5, top_k=2)
    # x7 = 0.5 + 0.5 * hub / 100000 and hub = 0.5 * (all leaves) = 0.5 * (1 - hub), so hub = 1/3
    assert answer.nodes.tolist() == [7, 0]
    # a push does not open the hub: half of the mass is left there, and is distributed by the stationary distribution
    assert answer.scores.tolist() == pytest.approx([0.5, 1 / 3], abs=0.05)


def test_edge_types_weigh_and_unknown_types_count_half():
    nodes = [Node.entity(name) for name in "abcd"]
    edges = [
        Edge("entity:a", "entity:b", "implements"),  # 1.0
        Edge("entity:a", "entity:c", "has_limitation"),  # 0.3
        Edge("entity:a", "entity:d", "painted_by"),  # unknown: 0.5
    ]
    graph = graph_from_edges(nodes, edges)
    shares = scores_of(personalised_pagerank(graph, {"entity:a": 1.0}, **EXACT))
    assert [shares[node] / shares[0] for node in (1, 2, 3)] == pytest.approx(
        [0.85 * 1.0 / 1.8, 0.85 * 0.3 / 1.8, 0.85 * 0.5 / 1.8]
    )
    chosen = personalised_pagerank(
        graph, {"entity:a": 1.0}, edge_type_weights={"painted_by": 0.0, "implements": 2.0}, **EXACT
    )
    # has_limitation is not among the weights given, so it counts 0.5; painted_by is switched off
    assert scores_of(chosen) == pytest.approx({0: 1 / 1.85, 1: 0.85 / 1.85 * 2.0 / 2.5, 2: 0.85 / 1.85 * 0.5 / 2.5})


def test_falsy_weights_are_weights():
    graph = graph_from_edges([Node.entity("a"), Node.entity("b")], [Edge("entity:a", "entity:b")])
    answer = personalised_pagerank(graph, {"entity:a": 1.0}, edge_type_weights={"relates_to": 0})
    assert scores_of(answer) == {0: 1.0}


def test_a_higher_restart_stays_nearer():
    path = graph_of(*((index, index + 1) for index in range(9)))

    def distance(restart):
        answer = personalised_pagerank(path, {0: 1.0}, restart=restart, **EXACT)
        return float((answer.nodes * answer.scores).sum())

    assert distance(0.5) < distance(0.15) < distance(0.05)
    assert distance(1.0) == 0.0


def test_a_forbidden_node_is_not_walked_through():
    path = graph_of((0, 1), (1, 2), (0, 3))
    answer = personalised_pagerank(path, {0: 1.0}, restart=0.5, node_bias=np.array([1.0, 0.0, 1.0, 1.0]), **EXACT)
    same(answer, {0: 2 / 3, 3: 1 / 3})


def test_nodes_that_are_not_wanted_still_carry_the_walk():
    path = graph_of((0, 1), (1, 2))
    answer = personalised_pagerank(path, {0: 1.0}, among=np.array([False, False, True]), **EXACT)
    whole = scores_of(personalised_pagerank(path, {0: 1.0}, **EXACT))
    assert scores_of(answer) == {2: whole[2]}


def test_top_k_min_score_and_ties():
    star = graph_of((0, 1), (0, 2), (0, 3))
    assert personalised_pagerank(star, {0: 1.0}, top_k=3, **EXACT).nodes.tolist() == [0, 1, 2], "ties by number"
    best = personalised_pagerank(star, {0: 1.0}, **EXACT)
    assert personalised_pagerank(star, {0: 1.0}, min_score=0.2, **EXACT).nodes.tolist() == [0]
    assert best.nodes.tolist() == [0, 1, 2, 3]
    assert personalised_pagerank(star, {0: 1.0}, top_k=99, **EXACT).nodes.tolist() == [0, 1, 2, 3]


def test_seeds_by_id_and_twice_the_same():
    graph = graph_from_edges([Node.entity("a"), Node.entity("b")], [Edge("entity:a", "entity:b")])
    by_id = personalised_pagerank(graph, {"entity:a": 2.0, "entity:nobody": 9.0}, **EXACT)
    assert scores_of(by_id) == scores_of(personalised_pagerank(graph, {0: 1.0}, **EXACT))
    assert scores_of(personalised_pagerank(graph, {"entity:a": 1e308, "entity:b": 1e308}, **EXACT)) == pytest.approx(
        {0: 0.5, 1: 0.5}
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"restart": 0.0}, "restart: 0.0 is not allowed"),
        ({"restart": 1.5}, "restart: 1.5 is not allowed"),
        ({"restart": float("nan")}, "restart: nan is not allowed"),
        ({"tolerance": 0.0}, "tolerance: 0.0 is not allowed"),
        ({"top_k": 0}, "top_k: 0 is not allowed"),
        ({"time_budget_seconds": 0.0}, "time_budget_seconds: 0.0 is not allowed"),
        ({"among": np.array([1, 0])}, "among: needs one flag per node"),
        ({"edge_type_weights": {"x": -1.0}}, r"edge_type_weights\['x'\]: -1.0 is not allowed"),
    ],
)
def test_bad_arguments_say_what_is_allowed(arguments, message):
    with pytest.raises(ValueError, match=message):
        personalised_pagerank(graph_of((0, 1)), {0: 1.0}, **arguments)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({0: -1.0}, r"seeds\[0\]: weight -1.0 is not allowed"),
        ({"a": float("nan")}, r"seeds\['a'\]: weight nan is not allowed"),
        ({0: float("inf")}, "weight inf is not allowed"),
        ({5: 1.0}, "there is no node 5; numbers go from 0 to 1"),
        ({-1: 1.0}, "there is no node -1"),
    ],
)
def test_bad_seeds_are_named(seeds, message):
    with pytest.raises(ValueError, match=message):
        personalised_pagerank(graph_of((0, 1)), seeds)


def test_a_deadline_gives_the_best_so_far_and_says_so():
    rng = np.random.default_rng(1)
    graph = graph_from_arrays(rng.integers(0, 20_000, 200_000), rng.integers(0, 20_000, 200_000))
    personalised_pagerank(graph, {0: 1.0}, **EXACT)
    begin = time.perf_counter()
    answer = personalised_pagerank(graph, {0: 1.0}, restart=0.02, time_budget_seconds=1e-4, **EXACT)
    assert time.perf_counter() - begin < 5.0
    assert not answer.finished
    assert answer.residual > 1e-10
    assert 0 in answer.nodes.tolist()
    assert personalised_pagerank(graph, {0: 1.0}, time_budget_seconds=60.0).finished


def test_the_same_in_every_thread():
    rng = np.random.default_rng(2)
    graph = graph_from_arrays(rng.integers(0, 3000, 20_000), rng.integers(0, 3000, 20_000))
    answers = {}

    def ask(number):
        answers[number] = [personalised_pagerank(graph, {seed: 1.0, seed + 1: 2.0}, top_k=20) for seed in range(10)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(1, 4):
        for one, other in zip(answers[0], answers[number], strict=True):
            assert one.nodes.tolist() == other.nodes.tolist()
            assert one.scores.tolist() == other.scores.tolist()


def test_seeds_are_not_changed():
    seeds = {0: 2.0, 1: 1.0}
    personalised_pagerank(graph_of((0, 1)), seeds)
    assert seeds == {0: 2.0, 1: 1.0}


def test_confidence_says_how_far_the_best_stands_out():
    def answer(*scores):
        return PageRankScores(np.arange(len(scores)), np.array(scores), 1, True, 0.0)

    assert answer().prominence == 0.0
    assert answer(0.4).prominence == 1.0
    assert answer(0.3, 0.3, 0.3).prominence == 0.0
    assert answer(0.6, 0.2, 0.1).prominence == pytest.approx(1 - 0.15 / 0.6)


NODES = [Node.entity(name) for name in "abcdef"]
EDGES = [
    Edge("entity:a", "entity:b", "enables", 2.0),
    Edge("entity:a", "entity:b", "relates_to", 1.0),
    Edge("entity:b", "entity:c", "part_of", 10.0),
    Edge("entity:c", "entity:a", "painted_by", 3.0),
    Edge("entity:c", "entity:c", "relates_to", 1.0),
    Edge("entity:d", "entity:e", "relates_to", 1.0),
    Edge("entity:a", "entity:d", "requires", 0.5),
]


@pytest.mark.parametrize("bias", [None, np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0])])
def test_a_graph_that_is_only_a_port_gives_the_same(plain_port, bias):
    graphs = plain_port(NODES, EDGES), graph_from_edges(NODES, EDGES)
    one, other = (
        personalised_pagerank(graph, {"entity:a": 1.0, "entity:e": 0.5}, node_bias=bias, **EXACT) for graph in graphs
    )
    assert scores_of(one) == pytest.approx(scores_of(other), abs=1e-8)


def test_a_port_is_asked_once_per_round(plain_port):
    port = plain_port(NODES, EDGES)
    answer = personalised_pagerank(port, {"entity:a": 1.0})
    assert port.calls == answer.rounds


def test_the_scale_of_weights_does_not_matter_to_a_port(plain_port):
    heavy = [Edge(edge.source, edge.target, edge.type, edge.weight * 1000) for edge in EDGES]
    one, other = (personalised_pagerank(plain_port(NODES, edges), {0: 1.0}) for edges in (EDGES, heavy))
    assert one.rounds == other.rounds
    assert scores_of(one) == pytest.approx(scores_of(other))
