import numpy as np
import pytest

from hopweave.graph.csr import Graph
from hopweave.graph.push import PortRows, WalkRows, push
from hopweave.graph.terms import Terms
from hopweave.graph.walk import walk_of

ONE = np.array([1.0])


def random_walk_graph(size=2000, edges=12_000, seed=0):
    rng = np.random.default_rng(seed)
    return Graph.from_arrays(rng.integers(0, size, edges), rng.integers(0, size, edges), rng.uniform(0.5, 2, edges))


def test_one_round_by_hand():
    # threshold so high that only the seed is pushed: visits 1 at 0, residue 0.8 * (1/4, 3/4) at 1 and 2
    graph = Graph.from_arrays(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 3.0]))
    terms = Terms(restart=0.2, tolerance=1e6)
    found = push(WalkRows(walk_of(graph, "out"), terms), np.array([0]), ONE, terms)
    assert found.rounds == 1
    # restart * (visits + residue) / (restart * visits + residue) = 0.2 * (1, 0.2, 0.6) / (0.2 + 0.8)
    assert found.scores == pytest.approx([0.2, 0.04, 0.12], abs=1e-6)
    assert found.residual == pytest.approx(0.8, abs=1e-6)


def test_what_is_left_goes_to_the_background():
    graph = random_walk_graph()
    walk, terms = walk_of(graph, "both"), Terms(restart=0.15)
    seeds = np.array([3])
    plain = push(WalkRows(walk, terms), seeds, ONE, terms)
    filled = push(WalkRows(walk, terms), seeds, ONE, terms, walk.background)
    assert plain.scores.sum() < 0.9
    assert set(plain.nodes.tolist()) <= set(filled.nodes.tolist())
    assert set(walk.background.hubs.tolist()) <= set(filled.nodes.tolist())
    assert filled.residual == plain.residual


def test_a_smaller_tolerance_leaves_less():
    walk = walk_of(random_walk_graph(), "both")
    residuals = []
    for tolerance in (1.0, 0.1, 0.01, 0.001):
        terms = Terms(restart=0.15, tolerance=tolerance)
        residuals.append(push(WalkRows(walk, terms), np.array([0]), ONE, terms).residual)
    assert residuals == sorted(residuals, reverse=True)
    assert residuals[-1] < 0.05


def test_a_workspace_is_clean_again_after_use():
    walk, terms = walk_of(random_walk_graph(), "both"), Terms(restart=0.15)
    first = push(WalkRows(walk, terms), np.array([1]), ONE, terms, walk.background)
    push(WalkRows(walk, terms), np.array([2, 5]), np.array([1.0, 1.0]), terms, walk.background)
    again = push(WalkRows(walk, terms), np.array([1]), ONE, terms, walk.background)
    assert len(walk.spare["float32"]) == 1
    assert again.nodes.tolist() == first.nodes.tolist()
    assert again.scores.tolist() == first.scores.tolist()


def test_a_workspace_is_clean_even_after_an_error():
    walk, terms = walk_of(random_walk_graph(), "both"), Terms(restart=0.15)

    class Broken(WalkRows):
        def sizes(self, nodes):
            raise OSError("the line went dead")

    with pytest.raises(OSError, match="line went dead"):
        push(Broken(walk, terms), np.array([1]), ONE, terms)
    (space,) = walk.spare["float32"]
    assert not space.reached.any()
    assert not space.residue.any()
    assert not space.visits.any()


def test_sizes_of_a_port_are_in_edges_whatever_the_scale(plain_port):
    from hopweave.graph.model import Edge, Node

    nodes = [Node.entity(name) for name in "abc"]
    edges = [Edge("entity:a", "entity:b", weight=500.0), Edge("entity:b", "entity:c", weight=500.0)]
    rows = PortRows(plain_port(nodes, edges), {"both": (1.0,)})
    rows.onward(np.array([0]))
    assert rows.sizes(np.array([1])).tolist() == [2.0]
