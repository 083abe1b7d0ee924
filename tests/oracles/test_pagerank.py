"""Personalised PageRank against networkx, on small graphs of every shape and on a published example."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hopweave.graph.walk.personalised_pagerank import personalised_pagerank, power_iteration
from hopweave.graph.walk.transitions import TypeWeights, weight_matrix
from hopweave.testing.graphs import graph_from_arrays

SIZE = 8
ALL = np.arange(SIZE)
edge_lists = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.floats(0.01, 100)), max_size=30)
seed_weights = st.dictionaries(st.integers(0, SIZE - 1), st.floats(0.01, 10), min_size=1, max_size=4)
restarts = st.floats(0.05, 0.95)


def graph_of(rows, size=SIZE):
    sources, targets, weights = zip(*rows, strict=True) if rows else ((), (), ())
    return graph_from_arrays(
        np.array(sources, np.int64), np.array(targets, np.int64), np.array(weights, np.float64), size=size
    )


def networkx_scores(rows, seeds, restart, direction, size=SIZE):
    """networkx sends what arrives at a dangling node back to the seeds when it is given a personalization."""
    other = nx.MultiDiGraph()
    other.add_nodes_from(range(size))
    for source, target, weight in rows:
        other.add_edge(source, target, weight=weight)
        if direction == "both" and source != target:
            other.add_edge(target, source, weight=weight)
    found = nx.pagerank(other, alpha=1 - restart, personalization=seeds, tol=1e-12, max_iter=10_000)
    return np.array([found[index] for index in range(size)])


def dense(answer, size=SIZE):
    scores = np.zeros(size)
    scores[answer.nodes] = answer.scores
    return scores


@given(rows=edge_lists, seeds=seed_weights, restart=restarts)
@settings(max_examples=60, deadline=None)
def test_a_push_agrees_with_networkx(rows, seeds, restart):
    answer = personalised_pagerank(graph_of(rows), seeds, restart=restart, tolerance=1e-10)
    assert dense(answer) == pytest.approx(networkx_scores(rows, seeds, restart, "both"), abs=1e-8)
    assert answer.finished


@pytest.mark.parametrize("direction", ["out", "both"])
@given(rows=edge_lists, seeds=seed_weights, restart=restarts)
@settings(max_examples=30, deadline=None)
def test_power_iteration_agrees_with_networkx(direction, rows, seeds, restart):
    start = np.array([seeds.get(node, 0.0) for node in range(SIZE)])
    matrix = weight_matrix(graph_of(rows), TypeWeights(direction))
    scores = power_iteration(matrix, start, restart=restart, tolerance=1e-10)
    assert scores == pytest.approx(networkx_scores(rows, seeds, restart, direction), abs=1e-8)


@given(rows=edge_lists, seeds=seed_weights, restart=restarts)
@settings(max_examples=30, deadline=None)
def test_at_the_usual_tolerance_errors_stay_within_what_is_said(rows, seeds, restart):
    answer = personalised_pagerank(graph_of(rows), seeds, restart=restart)
    error = np.abs(dense(answer) - networkx_scores(rows, seeds, restart, "both")).sum()
    assert error <= 2 * answer.residual + 1e-5


@given(
    rows=edge_lists,
    seeds=seed_weights,
    restart=restarts,
    allowed=st.lists(st.booleans(), min_size=SIZE, max_size=SIZE),
)
@settings(max_examples=30, deadline=None)
def test_forbidden_nodes_might_as_well_not_exist(rows, seeds, restart, allowed):
    mask = np.array(allowed)
    visible = {seed: weight for seed, weight in seeds.items() if mask[seed]}
    assume(visible)
    bias = mask.astype(np.float64)
    answer = personalised_pagerank(graph_of(rows), visible, restart=restart, tolerance=1e-10, node_bias=bias)
    without = [row for row in rows if mask[row[0]] and mask[row[1]]]
    assert dense(answer) == pytest.approx(networkx_scores(without, visible, restart, "both"), abs=1e-8)


def test_published_example():
    """Langville and Meyer, Deeper Inside PageRank (2004), section 2: six pages, alpha 0.9, page 2 dangling."""
    links = {1: [2, 3], 2: [], 3: [1, 2, 5], 4: [5, 6], 5: [4, 6], 6: [4]}
    rows = [(page - 1, other - 1, 1.0) for page, others in links.items() for other in others]
    scores = power_iteration(weight_matrix(graph_of(rows, 6), TypeWeights("out")), np.ones(6), restart=0.1)
    assert scores.round(5).tolist() == [0.03721, 0.05396, 0.04151, 0.37508, 0.20600, 0.28625]


def test_on_a_larger_graph_a_push_finds_the_true_best():
    rng = np.random.default_rng(4)
    size, edges = 4000, 24_000
    popular = (np.arange(size) + 10.0) ** -0.8
    sources, targets = rng.integers(0, size, edges), rng.choice(size, edges, p=popular / popular.sum())
    graph = graph_from_arrays(sources, targets, size=size)
    overlaps = []
    for _ in range(20):
        seeds = {int(node): 1.0 for node in rng.choice(sources, 5)}
        exact = power_iteration(weight_matrix(graph, TypeWeights()), np.bincount(list(seeds), minlength=size))
        quick = personalised_pagerank(graph, seeds, top_k=50)
        best = np.argsort(-exact, kind="stable")[:50]
        overlaps.append(len(set(best.tolist()) & set(quick.nodes.tolist())) / 50)
    assert np.mean(overlaps) >= 0.98
