import numpy as np
import pytest

from hopweave.graph.background import background_of
from hopweave.graph.csr import Graph
from hopweave.graph.walk import walk_of


def background(rows, direction, size=None):
    sources, targets = (np.array(column, int) for column in zip(*rows, strict=True))
    return background_of(walk_of(Graph.from_arrays(sources, targets, size=size), direction))


def test_no_edges_no_background():
    assert background_of(walk_of(Graph.from_arrays(np.array([], int), np.array([], int), size=3))) is None


def test_both_ways_it_is_the_share_of_the_degree_in_each_part():
    # a path 0 - 1 - 2 with degrees 1, 2, 1; a pair 3 - 4; and 5 alone
    found = background([(0, 1), (1, 2), (3, 4)], "both", 6)
    assert found.masses.tolist() == [0.25, 0.5, 0.25, 0.5, 0.5, 0.0]
    assert found.settles.tolist() == [True] * 5 + [False]
    assert found.parts[0] == found.parts[2] != found.parts[3]
    assert found.leaks.max() == 0.0


def test_a_directed_ring_is_even():
    assert background([(0, 1), (1, 2), (2, 0)], "out").masses == pytest.approx([1 / 3] * 3, abs=1e-4)


def test_directed_walks_settle_only_where_they_can_reach_the_core():
    # 3 -> ring 0, 1, 2 -> 4, a dead end
    found = background([(0, 1), (1, 2), (2, 0), (3, 0), (0, 4)], "out")
    assert found.settles.tolist() == [True, True, True, True, False]
    assert found.masses[3] == 0.0, "nothing leads to 3"
    assert found.masses[4] > 0.0
    assert found.leaks.tolist() == [pytest.approx(found.masses[4])]
    assert found.masses.sum() == pytest.approx(1.0)


def test_a_graph_without_cycles_has_no_core():
    found = background([(0, 1), (1, 2), (0, 2)], "out")
    assert not found.settles.any()


def test_a_core_that_is_a_small_part_of_a_graph_does_not_count():
    # a chain of 20 ends in a ring of 2
    found = background([*((index, index + 1) for index in range(20)), (20, 19)], "out")
    assert not found.settles.any()
