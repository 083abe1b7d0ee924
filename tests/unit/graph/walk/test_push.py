import numpy as np
import pytest

from hopweave.graph.walk import personalised_pagerank as module
from hopweave.graph.walk.personalised_pagerank import power_iteration, push
from hopweave.graph.walk.stationary_distribution import stationary_distribution
from hopweave.graph.walk.transitions import LocalRows, TypeWeights, WalkOptions, transition_rows, weight_matrix
from hopweave.testing.graphs import graph_from_arrays

BOTH = TypeWeights("both")


def random_graph(size=2000, edges=12_000, seed=0):
    rng = np.random.default_rng(seed)
    return graph_from_arrays(rng.integers(0, size, edges), rng.integers(0, size, edges), rng.uniform(0.5, 2, edges))


def pushed(graph, options, weights=BOTH, seeds=(0,), stationary=None):
    seeds = np.array(seeds)
    return push(transition_rows(graph, options, weights), seeds, np.ones(len(seeds)), options, stationary)


def error(found, exact):
    scores = dict(zip(found.nodes.tolist(), found.scores.tolist(), strict=True))
    best = np.argsort(-exact.scores)[:50]
    return max(abs(scores.get(int(exact.nodes[place]), 0.0) - exact.scores[place]) for place in best)


def test_one_round_by_hand():
    # threshold so high that only the seed is pushed: estimate 1 at 0, residual 0.8 * (1/4, 3/4) at 1 and 2
    graph = graph_from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    found = pushed(graph, WalkOptions(restart=0.2, tolerance=1e6), TypeWeights("out"))
    assert found.rounds == 1
    # restart * (estimate + residual) / (restart * estimate + residual) = 0.2 * (1, 0.2, 0.6) / (0.2 + 0.8)
    assert found.scores == pytest.approx([0.2, 0.04, 0.12], abs=1e-6)
    assert found.residual == pytest.approx(0.8, abs=1e-6)


def test_what_is_left_goes_to_the_stationary_distribution():
    graph, options = random_graph(), WalkOptions(restart=0.15)
    stationary = stationary_distribution(weight_matrix(graph, BOTH))
    plain, filled = (pushed(graph, options, seeds=[3], stationary=one) for one in (None, stationary))
    assert plain.scores.sum() < 0.9
    assert set(plain.nodes.tolist()) <= set(filled.nodes.tolist())
    assert set(stationary.top_nodes.tolist()) <= set(filled.nodes.tolist())
    assert filled.residual == pytest.approx(plain.residual)


def test_a_smaller_tolerance_leaves_less():
    graph = random_graph()
    residuals = [
        pushed(graph, WalkOptions(restart=0.15, tolerance=tolerance)).residual for tolerance in (1.0, 0.1, 0.01, 0.001)
    ]
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < 0.05


def test_momentum_takes_fewer_rounds_to_a_better_answer(monkeypatch):
    """Passages and entities: mass goes to and fro between the two sides."""
    rng = np.random.default_rng(1)
    graph = graph_from_arrays(rng.integers(0, 1000, 6000), rng.integers(1000, 2000, 6000), rng.uniform(0.5, 2, 6000))
    options = WalkOptions(restart=0.12, tolerance=0.005)
    exact = pushed(graph, WalkOptions(restart=0.12, tolerance=1e-6))
    found = pushed(graph, options)
    monkeypatch.setattr(module, "MOMENTUM", 0.0)
    without = pushed(graph, options)
    assert found.rounds < 0.7 * without.rounds
    assert error(found, exact) < error(without, exact)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_a_walk_in_circles_comes_to_an_end(direction):
    """Where momentum only does harm: along these edges counts far more than against them."""
    circle = graph_from_arrays(np.arange(30), (np.arange(30) + 1) % 30)
    weights = TypeWeights(direction, {"relates_to": 1.0}, {"relates_to": 0.001})
    seeds = np.zeros(30)
    seeds[0] = 1
    found = pushed(circle, WalkOptions(restart=0.01, tolerance=1e-4), weights)
    assert found.finished
    assert found.rounds < 2000
    assert found.scores == pytest.approx(power_iteration(weight_matrix(circle, weights), seeds, restart=0.01), abs=1e-4)


def test_a_workspace_is_clean_again_after_use():
    graph, options = random_graph(), WalkOptions(restart=0.15)
    stationary = stationary_distribution(weight_matrix(graph, BOTH))
    first = pushed(graph, options, seeds=[1], stationary=stationary)
    pushed(graph, options, seeds=[2, 5], stationary=stationary)
    again = pushed(graph, options, seeds=[1], stationary=stationary)
    assert len(transition_rows(graph, options).workspaces) == 1
    assert again.nodes.tolist() == first.nodes.tolist()
    assert again.scores.tolist() == first.scores.tolist()


def test_a_workspace_is_clean_even_after_an_error(monkeypatch):
    graph, options = random_graph(), WalkOptions(restart=0.15)

    def broken(self, nodes):
        raise OSError("the line went dead")

    monkeypatch.setattr(LocalRows, "edge_counts", broken)
    with pytest.raises(OSError, match="line went dead"):
        pushed(graph, options)
    (space,) = transition_rows(graph, options).workspaces
    assert not space.reached.any()
    assert not space.residual.any()
    assert not space.estimate.any()
