import numpy as np
import pytest

from hopweave.graph.storage.csr import Graph
from hopweave.graph.walk.push import push
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_matrix import transition_matrix
from hopweave.graph.walk.transition_rows import MatrixRows

ONE = np.array([1.0])


def random_graph(size=2000, edges=12_000, seed=0):
    rng = np.random.default_rng(seed)
    return Graph.from_arrays(rng.integers(0, size, edges), rng.integers(0, size, edges), rng.uniform(0.5, 2, edges))


def test_one_round_by_hand():
    # threshold so high that only the seed is pushed: estimate 1 at 0, residual 0.8 * (1/4, 3/4) at 1 and 2
    graph = Graph.from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    options = SolverOptions(restart=0.2, tolerance=1e6)
    found = push(MatrixRows(transition_matrix(graph, "out"), options), np.array([0]), ONE, options)
    assert found.rounds == 1
    # restart * (estimate + residual) / (restart * estimate + residual) = 0.2 * (1, 0.2, 0.6) / (0.2 + 0.8)
    assert found.scores == pytest.approx([0.2, 0.04, 0.12], abs=1e-6)
    assert found.residual == pytest.approx(0.8, abs=1e-6)


def test_what_is_left_goes_to_the_stationary_distribution():
    graph = random_graph()
    matrix, options = transition_matrix(graph, "both"), SolverOptions(restart=0.15)
    seeds = np.array([3])
    plain = push(MatrixRows(matrix, options), seeds, ONE, options)
    filled = push(MatrixRows(matrix, options), seeds, ONE, options, matrix.stationary_distribution)
    assert plain.scores.sum() < 0.9
    assert set(plain.nodes.tolist()) <= set(filled.nodes.tolist())
    assert set(matrix.stationary_distribution.top_nodes.tolist()) <= set(filled.nodes.tolist())
    assert filled.residual == plain.residual


def test_a_smaller_tolerance_leaves_less():
    matrix = transition_matrix(random_graph(), "both")
    residuals = []
    for tolerance in (1.0, 0.1, 0.01, 0.001):
        options = SolverOptions(restart=0.15, tolerance=tolerance)
        residuals.append(push(MatrixRows(matrix, options), np.array([0]), ONE, options).residual)
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < 0.05


def test_a_workspace_is_clean_again_after_use():
    matrix, options = transition_matrix(random_graph(), "both"), SolverOptions(restart=0.15)
    first = push(MatrixRows(matrix, options), np.array([1]), ONE, options, matrix.stationary_distribution)
    push(MatrixRows(matrix, options), np.array([2, 5]), np.array([1.0, 1.0]), options, matrix.stationary_distribution)
    again = push(MatrixRows(matrix, options), np.array([1]), ONE, options, matrix.stationary_distribution)
    assert len(matrix.workspaces["float32"]) == 1
    assert again.nodes.tolist() == first.nodes.tolist()
    assert again.scores.tolist() == first.scores.tolist()


def test_a_workspace_is_clean_even_after_an_error():
    matrix, options = transition_matrix(random_graph(), "both"), SolverOptions(restart=0.15)

    class Broken(MatrixRows):
        def edge_counts(self, nodes):
            raise OSError("the line went dead")

    with pytest.raises(OSError, match="line went dead"):
        push(Broken(matrix, options), np.array([1]), ONE, options)
    (space,) = matrix.workspaces["float32"]
    assert not space.reached.any()
    assert not space.residual.any()
    assert not space.estimate.any()
