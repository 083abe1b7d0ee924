import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.walk.transitions import (
    LocalRows,
    PortRows,
    TypeWeights,
    WalkOptions,
    transition_rows,
    type_factors,
    weight_matrix,
)
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges

NODES = [Node.entity(name) for name in "abcd"]
# a -2 enables-> b, a -1 requires-> b, c -3-> a; d has no edges
EDGES = [
    Edge("entity:a", "entity:b", "enables", 2.0),
    Edge("entity:a", "entity:b", "requires", 1.0),
    Edge("entity:c", "entity:a", "enables", 3.0),
]
FORWARD, BACKWARD = {"enables": 1.0, "requires": 0.5}, {"enables": 0.5, "requires": 0.5}


def test_a_graph_with_edge_rows_is_read_by_them_and_any_other_by_its_neighbours(plain_port):
    options = WalkOptions(0.15)
    assert isinstance(transition_rows(graph_from_edges(NODES, EDGES), options), LocalRows)
    assert isinstance(transition_rows(plain_port(NODES, EDGES), options), PortRows)


@pytest.mark.parametrize(
    ("node_bias", "expected"),
    [
        # from a: to b forward 2 * 1 + 1 * 0.5, to c backward 3 * 0.5; from d nothing
        (None, {1: 2.5 / 4, 2: 1.5 / 4}),
        (np.array([1.0, 3.0, 1.0, 1.0]), {1: 7.5 / 9, 2: 1.5 / 9}),
        (np.array([True, False, True, True]), {2: 1.0}),
    ],
)
def test_probabilities_by_hand(plain_port, node_bias, expected):
    for graph in (graph_from_edges(NODES, EDGES), plain_port(NODES, EDGES)):
        options = WalkOptions(0.15, tolerance=1e-9, node_bias=node_bias)
        rows = transition_rows(graph, options, TypeWeights("both", FORWARD, BACKWARD))
        found = rows.transitions(np.array([0, 3]))
        assert found.counts.tolist() == [2, 0]
        pairs = zip(found.targets.tolist(), found.passed_on(np.ones(len(found.counts))).tolist(), strict=True)
        assert {target: share for target, share in pairs if share} == pytest.approx(expected)


def test_edge_counts_of_a_port_do_not_depend_on_the_scale_of_weights(plain_port):
    nodes = [Node.entity(name) for name in "abc"]
    edges = [Edge("entity:a", "entity:b", weight=500.0), Edge("entity:b", "entity:c", weight=500.0)]
    rows = PortRows(plain_port(nodes, edges), TypeWeights())
    rows.transitions(np.array([0]))
    assert rows.edge_counts(np.array([1])).tolist() == [2.0]


def matrix_of(rows, *weights, edge_types=("enables", "requires")):
    sources, targets, edge_weights, types = (np.array(column) for column in zip(*rows, strict=True))
    graph = graph_from_arrays(sources, targets, edge_weights, types=types, edge_types=edge_types)
    return weight_matrix(graph, TypeWeights(*weights))


def test_edge_types_of_one_pair_are_merged_by_their_weight():
    # 2 * 0.9 enables + 1 * 0.8 requires
    matrix = matrix_of([(0, 1, 2.0, 0), (0, 1, 1.0, 1)], "out")
    assert matrix.toarray().tolist() == [[0, pytest.approx(2 * 0.9 + 1 * 0.8)], [0, 0]]


def test_a_type_that_counts_nothing_is_not_walked():
    rows = [(0, 1, 2.0, 0), (0, 2, 1.0, 1)]
    assert matrix_of(rows, "out", {"requires": 0.0, "enables": 1.0}).nnz == 1
    assert matrix_of(rows, "both", {"requires": 0.0, "enables": 0.0}).nnz == 0


def test_directions_of_edges():
    rows = [(0, 1, 1.0, 0), (0, 0, 3.0, 0)]
    forward, backward = {"enables": 1.0}, {"enables": 0.25}
    assert matrix_of(rows, "both", forward, backward).toarray().tolist() == [[3, 1], [0.25, 0]]
    assert matrix_of(rows, "out", forward, backward).toarray().tolist() == [[3, 1], [0, 0]]
    assert matrix_of(rows, "both", forward).toarray().tolist() == [[3, 1], [1, 0]]


def test_a_walk_reads_what_is_in_the_matrix():
    rng = np.random.default_rng(0)
    sources, targets, types = rng.integers(0, 9, 40), rng.integers(0, 9, 40), rng.integers(0, 2, 40)
    graph = graph_from_arrays(sources, targets, rng.uniform(1, 2, 40), types=types, edge_types=("enables", "requires"))
    for weights in (TypeWeights("both", FORWARD, BACKWARD), TypeWeights("both")):
        found = transition_rows(graph, WalkOptions(0.15), weights).transitions(np.arange(graph.size))
        dense = np.zeros((graph.size, graph.size))
        dense[np.repeat(np.arange(graph.size), found.counts), found.targets] = found.weights
        np.testing.assert_allclose(dense, weight_matrix(graph, weights).toarray())


def test_type_factors():
    assert type_factors(["implements", "unheard_of"]) == (1.0, 0.5)
    assert type_factors(["implements"], {}) == (0.5,)
    with pytest.raises(ValueError, match=r"edge_type_weights\['implements'\]: nan is not allowed"):
        type_factors([], {"implements": float("nan")})
