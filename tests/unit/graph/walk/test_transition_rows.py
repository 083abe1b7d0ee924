import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.storage.csr import Graph
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_rows import MatrixRows, PortRows, transition_rows

NODES = [Node.entity(name) for name in "abcd"]
# a -2 enables-> b, a -1 requires-> b, c -3-> a; d has no edges
EDGES = [
    Edge("entity:a", "entity:b", "enables", 2.0),
    Edge("entity:a", "entity:b", "requires", 1.0),
    Edge("entity:c", "entity:a", "enables", 3.0),
]
FORWARD, BACKWARD = {"enables": 1.0, "requires": 0.5}, {"enables": 0.5, "requires": 0.5}


def test_a_graph_in_memory_has_a_matrix_and_any_other_is_asked(plain_port):
    options = SolverOptions(0.15)
    assert isinstance(transition_rows(Graph.build(NODES, EDGES), options), MatrixRows)
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
    for graph in (Graph.build(NODES, EDGES), plain_port(NODES, EDGES)):
        options = SolverOptions(0.15, tolerance=1e-9, node_bias=node_bias)
        rows = transition_rows(graph, options, edge_type_weights=FORWARD, backward_type_weights=BACKWARD)
        found = rows.transitions(np.array([0, 3]))
        assert found.counts.tolist() == [2, 0]
        pairs = zip(found.targets.tolist(), found.passed_on(np.ones(len(found.counts))).tolist(), strict=True)
        assert {target: share for target, share in pairs if share} == pytest.approx(expected)


def test_edge_counts_of_a_port_do_not_depend_on_the_scale_of_weights(plain_port):
    nodes = [Node.entity(name) for name in "abc"]
    edges = [Edge("entity:a", "entity:b", weight=500.0), Edge("entity:b", "entity:c", weight=500.0)]
    rows = PortRows(plain_port(nodes, edges), {"both": (1.0,)})
    rows.transitions(np.array([0]))
    assert rows.edge_counts(np.array([1])).tolist() == [2.0]
