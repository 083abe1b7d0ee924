import numpy as np
import pytest

from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.storage.csr import Graph
from hopweave.graph.walk.transition_matrix import MATRICES_KEPT, transition_matrix, type_factors


def graph_of(rows, edge_types=("enables", "requires")):
    sources, targets, weights, types = (np.array(column) for column in zip(*rows, strict=True))
    return Graph.from_arrays(sources, targets, weights, types=types, edge_types=edge_types)


def rows_of(matrix):
    ends = np.repeat(np.arange(matrix.size), np.diff(matrix.indptr))
    return list(zip(ends.tolist(), matrix.targets.tolist(), matrix.weights.tolist(), strict=True))


def test_edge_types_of_one_pair_are_merged_by_their_weight():
    # 2 * 0.9 enables + 1 * 0.8 requires, in units of 0.9
    matrix = transition_matrix(graph_of([(0, 1, 2.0, 0), (0, 1, 1.0, 1)]), "out")
    ((source, target, weight),) = rows_of(matrix)
    assert (source, target) == (0, 1)
    assert weight == pytest.approx((2 * 0.9 + 1 * 0.8) / 0.9)
    assert matrix.degrees.tolist() == [weight, 0.0]


def test_a_type_that_counts_nothing_is_not_walked():
    matrix = transition_matrix(graph_of([(0, 1, 2.0, 0), (0, 2, 1.0, 1)]), "out", {"requires": 0.0})
    assert rows_of(matrix) == [(0, 1, 2.0)]
    assert transition_matrix(graph_of([(0, 1, 2.0, 0)]), "out", {"enables": 0.0}).edge_count == 0


def test_backward_edges_may_count_otherwise():
    matrix = transition_matrix(graph_of([(0, 1, 1.0, 0)]), "both", {"enables": 1.0}, {"enables": 0.25})
    assert rows_of(matrix) == [(0, 1, 1.0), (1, 0, 0.25)]
    assert not matrix.symmetric


def test_symmetric_is_seen_whatever_the_direction():
    there_and_back = [(0, 1, 2.0, 0), (1, 0, 2.0, 0), (1, 1, 1.0, 0)]
    assert transition_matrix(graph_of(there_and_back), "out").symmetric
    assert not transition_matrix(graph_of([(0, 1, 2.0, 0), (1, 0, 1.0, 0)]), "out").symmetric
    assert not transition_matrix(graph_of([(0, 1, 2.0, 0)]), "in").symmetric
    assert transition_matrix(graph_of([(0, 1, 2.0, 0)]), "both").symmetric


def test_shares_of_a_node_sum_to_one():
    matrix = transition_matrix(graph_of([(0, 1, 1.0, 0), (0, 2, 3.0, 0), (1, 2, 5.0, 0)]), "out")
    assert matrix.probabilities("float64").tolist() == [0.25, 0.75, 1.0]
    assert matrix.forward("float32").toarray().tolist() == [[0, 0.25, 0.75], [0, 0, 1], [0, 0, 0]]
    assert matrix.backward("float32").toarray().tolist() == [[0, 0, 0], [0.25, 0, 0], [0.75, 1, 0]]
    assert matrix.forward("float32").indices.dtype == np.int32


def test_walks_are_shared_and_only_the_latest_kept():
    graph = graph_of([(0, 1, 1.0, 0)])
    first = transition_matrix(graph, "out")
    assert transition_matrix(graph, "out") is first
    assert transition_matrix(graph, "out", EDGE_TYPE_WEIGHTS).degrees.tolist() == first.degrees.tolist()
    for number in range(MATRICES_KEPT):
        transition_matrix(graph, "out", {"enables": 1.0 + number})
    assert transition_matrix(graph, "out") is not first


def test_type_factors():
    assert type_factors(["implements", "unheard_of"]) == (1.0, 0.5)
    assert type_factors(["implements"], {}) == (0.5,)
    with pytest.raises(ValueError, match=r"edge_type_weights\['implements'\]: nan is not allowed"):
        type_factors([], {"implements": float("nan")})
