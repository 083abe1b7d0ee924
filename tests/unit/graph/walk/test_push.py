import numpy as np
import pytest

from hopweave.graph.storage.csr import Graph
from hopweave.graph.walk import push as push_module
from hopweave.graph.walk.push import push
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.solvers import power
from hopweave.graph.walk.transition_matrix import transition_matrix
from hopweave.graph.walk.transition_rows import MatrixRows

ONE = np.array([1.0])


def random_graph(size=2000, edges=12_000, seed=0):
    rng = np.random.default_rng(seed)
    return Graph.from_arrays(rng.integers(0, size, edges), rng.integers(0, size, edges), rng.uniform(0.5, 2, edges))


def pushed(matrix, options):
    return push(MatrixRows(matrix, options), np.array([0]), ONE, options)


def error(found, exact):
    scores = dict(zip(found.nodes.tolist(), found.scores.tolist(), strict=True))
    best = np.argsort(-exact.scores)[:50]
    return max(abs(scores.get(int(exact.nodes[place]), 0.0) - exact.scores[place]) for place in best)


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
    assert filled.residual == pytest.approx(plain.residual)


def test_a_smaller_tolerance_leaves_less():
    matrix = transition_matrix(random_graph(), "both")
    residuals = []
    for tolerance in (1.0, 0.1, 0.01, 0.001):
        options = SolverOptions(restart=0.15, tolerance=tolerance)
        residuals.append(push(MatrixRows(matrix, options), np.array([0]), ONE, options).residual)
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < 0.05


def test_momentum_takes_fewer_rounds_to_a_better_answer(monkeypatch):
    """Passages and entities: mass goes to and fro between the two sides."""
    rng = np.random.default_rng(1)
    graph = Graph.from_arrays(rng.integers(0, 1000, 6000), rng.integers(1000, 2000, 6000), rng.uniform(0.5, 2, 6000))
    matrix, options = transition_matrix(graph, "both"), SolverOptions(restart=0.12, tolerance=0.005)
    exact = pushed(matrix, SolverOptions(restart=0.12, tolerance=1e-6))
    found = pushed(matrix, options)
    monkeypatch.setattr(push_module, "MOMENTUM", 0.0)
    without = pushed(matrix, options)
    assert found.rounds < 0.7 * without.rounds
    assert error(found, exact) < error(without, exact)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_a_walk_in_circles_comes_to_an_end(direction):
    """Where momentum only does harm: along these edges counts far more than against them."""
    circle = Graph.from_arrays(np.arange(30), (np.arange(30) + 1) % 30)
    matrix = transition_matrix(circle, direction, {"relates_to": 1.0}, {"relates_to": 0.001})
    seeds, options = np.zeros(30), SolverOptions(restart=0.01, tolerance=1e-4)
    seeds[0] = 1
    found = push(MatrixRows(matrix, options), np.array([0]), ONE, options)
    assert found.finished
    assert found.rounds < 2000
    assert found.scores == pytest.approx(power(matrix, seeds, options).scores, abs=1e-4)


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
