"""Graph-smoothed vectors, by hand."""

import numpy as np
import pytest

from hopweave.vector.smoothing import smoothed

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def among_documents(vectors, offsets, neighbours, own_share=0.7):
    """Smoothed vectors where row i is node i."""
    return smoothed(vectors, np.arange(len(vectors)), offsets, neighbours, own_share)


def test_a_vector_is_mixed_with_the_mean_of_its_neighbours():
    # 0.5 · (1, 0) + 0.5 · mean((0, 1), (1, 0)) = (0.75, 0.25), of length sqrt(0.625)
    vectors = np.array([EAST, NORTH, EAST], np.float32)
    found = among_documents(vectors, np.array([0, 2, 2, 2]), np.array([1, 2]), own_share=0.5)
    np.testing.assert_allclose(found[0], np.array([0.75, 0.25]) / np.sqrt(0.625), rtol=1e-6)
    np.testing.assert_allclose(found[1:], [NORTH, EAST])


def test_lengths_do_not_matter():
    vectors = np.array([EAST, NORTH], np.float32)
    offsets, neighbours = np.array([0, 1, 2]), np.array([1, 0])
    longer = vectors * np.array([[5.0], [0.1]], np.float32)
    np.testing.assert_allclose(
        among_documents(longer, offsets, neighbours), among_documents(vectors, offsets, neighbours), rtol=1e-6
    )


@pytest.mark.parametrize("neighbours", [[], [1]])
def test_without_neighbours_that_say_something_a_vector_stays_itself(neighbours):
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    offsets = np.array([0, len(neighbours), len(neighbours)])
    np.testing.assert_allclose(
        among_documents(vectors, offsets, np.array(neighbours, int)), [[0.6, 0.8], [0, 0]], rtol=1e-6
    )


def test_all_own_changes_nothing_and_none_is_the_neighbours():
    vectors = np.array([EAST, NORTH], np.float32)
    offsets, neighbours = np.array([0, 1, 1]), np.array([1])
    np.testing.assert_allclose(among_documents(vectors, offsets, neighbours, own_share=1.0), vectors)
    np.testing.assert_allclose(among_documents(vectors, offsets, neighbours, own_share=0.0), [NORTH, NORTH])


def test_what_is_handed_in_stays_and_bad_shares_are_refused():
    vectors = np.array([EAST, NORTH], np.float32)
    among_documents(vectors, np.array([0, 1, 1]), np.array([1]))
    np.testing.assert_array_equal(vectors, [EAST, NORTH])
    with pytest.raises(ValueError, match=r"own_share: 1.5 is not allowed; it must lie between 0 and 1"):
        among_documents(vectors, np.array([0, 0, 0]), np.array([], int), own_share=1.5)


def test_no_vectors():
    assert among_documents(np.empty((0, 2), np.float32), np.array([0]), np.array([], int)).shape == (0, 2)


def test_an_entity_has_the_mean_of_its_documents():
    # both are connected to entity 9, whose vector is (0.5, 0.5): 0.5 · (1, 0) + 0.5 · (0.5, 0.5) = (0.75, 0.25)
    vectors = np.array([EAST, NORTH], np.float32)
    found = smoothed(vectors, np.array([4, 5]), np.array([0, 1, 2]), np.array([9, 9]), own_share=0.5)
    np.testing.assert_allclose(found, np.array([[0.75, 0.25], [0.25, 0.75]]) / np.sqrt(0.625), rtol=1e-6)


def test_several_edges_to_one_neighbour_count_once():
    vectors = np.array([EAST, NORTH, EAST], np.float32)
    once = among_documents(vectors, np.array([0, 2, 2, 2]), np.array([1, 2]))
    twice = among_documents(vectors, np.array([0, 3, 3, 3]), np.array([1, 1, 2]))
    np.testing.assert_allclose(once, twice)


def test_a_document_outside_the_graph_stays_itself():
    vectors = np.array([EAST, NORTH], np.float32)
    found = smoothed(vectors, np.array([-1, 3]), np.array([0, 0, 0]), np.array([], int), own_share=0.5)
    np.testing.assert_allclose(found, vectors)
