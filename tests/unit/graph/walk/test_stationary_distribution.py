import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.walk.personalised_pagerank import personalised_pagerank
from hopweave.graph.walk.stationary_distribution import stationary_distribution
from hopweave.graph.walk.transitions import TypeWeights, weight_matrix
from hopweave.testing.graphs import graph_from_arrays


def limit(rows, direction, size=None):
    sources, targets = (np.array(column, int) for column in zip(*rows, strict=True))
    return stationary_distribution(
        weight_matrix(graph_from_arrays(sources, targets, size=size), TypeWeights(direction))
    )


def test_no_edges_no_limit():
    graph = graph_from_arrays(np.array([], int), np.array([], int), size=3)
    assert stationary_distribution(weight_matrix(graph, TypeWeights())) is None


def test_both_ways_it_is_the_share_of_the_degree_in_each_component():
    # a path 0 - 1 - 2 with degrees 1, 2, 1; a pair 3 - 4; and 5 alone
    found = limit([(0, 1), (1, 2), (3, 4)], "both", 6)
    assert found.probabilities.tolist() == [0.25, 0.5, 0.25, 0.5, 0.5, 0.0]
    assert found.converges.tolist() == [True] * 5 + [False]
    assert found.components[0] == found.components[2] != found.components[3]


def test_a_directed_ring_is_even():
    assert limit([(0, 1), (1, 2), (2, 0)], "out").probabilities == pytest.approx([1 / 3] * 3, abs=1e-4)


def test_a_walk_does_not_converge_where_edges_lead_one_way():
    # a ring 0, 1, 2 and beside it a ring 3, 4, 5 with a way out to 6
    found = limit([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (4, 6)], "out")
    assert found.converges.tolist() == [True] * 3 + [False] * 4


def test_an_earlier_version_does_without_that_of_a_later_one():
    """A search goes on with the graph it began with, while another has followed a change."""
    with KnowledgeBase.open(builders=[MentionsBuilder()]) as kb:
        kb.add([Document("skua", "The Skua sails to Hallow."), Document("hallow", "Hallow is an isle near Tern.")])
        earlier = kb.graph
        kb.add([Document("tern", "On Tern, Ingrid Falk keeps the light.")])
        later = kb.graph
        assert later.size > earlier.size
        seeds = {"entity:hallow": 1.0}
        assert len(personalised_pagerank(later, seeds).nodes)
        found = personalised_pagerank(earlier, seeds)
        assert found.nodes.max() < earlier.size
