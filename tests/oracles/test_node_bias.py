"""Node bias, and edges that count otherwise backward: against a dense linear solve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.graph.walk.personalised_pagerank import personalised_pagerank, power_iteration
from hopweave.graph.walk.transitions import TypeWeights, weight_matrix
from hopweave.testing.graphs import graph_from_arrays

SIZE = 7
edges = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.floats(0.1, 5), st.integers(0, 1)), max_size=20
)
biases = st.lists(st.sampled_from([0.0, 0.2, 1.0, 3.0]), min_size=SIZE, max_size=SIZE)


def solved(rows, forward, backward, node_bias, start, restart):
    """x = restart · s + (1 - restart) · Pᵀx by elimination; a dangling node goes back to the seeds."""
    weights = np.zeros((SIZE, SIZE))
    for source, target, weight, kind in rows:
        weights[source, target] += weight * forward[kind]
        if source != target:
            weights[target, source] += weight * backward[kind]
    weights = weights * node_bias
    totals = weights.sum(axis=1, keepdims=True)
    moves = np.where(totals > 0, weights / np.where(totals > 0, totals, 1), start)
    return np.linalg.solve(np.eye(SIZE) - (1 - restart) * moves.T, restart * start)


def graph_of(rows):
    columns = list(zip(*rows, strict=True)) if rows else [[], [], [], []]
    return graph_from_arrays(
        np.array(columns[0], np.int64),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.float64),
        types=np.array(columns[3], np.int64),
        edge_types=("kind0", "kind1"),
        size=SIZE,
    )


@given(edges, biases, st.integers(0, SIZE - 1), st.sampled_from([0.15, 0.5]))
@settings(max_examples=60, deadline=None)
def test_agrees_with_elimination(rows, node_bias, seed, restart):
    node_bias = np.array(node_bias)
    node_bias[seed] = max(node_bias[seed], 0.2)
    start = np.zeros(SIZE)
    start[seed] = 1
    forward, backward = {"kind0": 1.0, "kind1": 0.5}, {"kind0": 0.25, "kind1": 2.0}
    answer = personalised_pagerank(
        graph_of(rows),
        {seed: 1.0},
        restart=restart,
        edge_type_weights=forward,
        backward_type_weights=backward,
        node_bias=node_bias,
        tolerance=1e-9,
    )
    scores = np.zeros(SIZE)
    scores[answer.nodes] = answer.scores
    exact = solved(rows, list(forward.values()), list(backward.values()), node_bias, start, restart)
    np.testing.assert_allclose(scores, exact, atol=2e-6)
    matrix = weight_matrix(graph_of(rows), TypeWeights("both", forward, backward))
    np.testing.assert_allclose(power_iteration(matrix, start, restart=restart, node_bias=node_bias), exact, atol=2e-6)


def test_a_node_bias_of_the_wrong_size_or_sign_is_refused():
    for node_bias in (np.ones(3), np.array([1.0] * 6 + [-1.0]), np.array([1.0] * 6 + [np.nan])):
        with pytest.raises(ValueError, match="node_bias: needs one number per node, 7 in all"):
            personalised_pagerank(graph_of([(0, 1, 1.0, 0)]), {0: 1.0}, node_bias=node_bias)
