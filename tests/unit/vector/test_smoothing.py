"""Graph-smoothed vectors, by hand."""

import numpy as np
import pytest

from hopweave.vector.smoothing import smoothed

EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def test_a_vector_is_mixed_with_the_mean_of_its_neighbours():
    # 0.5 · (1, 0) + 0.5 · mean((0, 1), (1, 0)) = (0.75, 0.25), of length sqrt(0.625)
    vectors = np.array([EAST, NORTH, EAST], np.float32)
    found = smoothed(vectors, np.array([0, 2, 2, 2]), np.array([1, 2]), own_share=0.5)
    np.testing.assert_allclose(found[0], np.array([0.75, 0.25]) / np.sqrt(0.625), rtol=1e-6)
    np.testing.assert_allclose(found[1:], [NORTH, EAST])


def test_lengths_do_not_matter():
    vectors = np.array([EAST, NORTH], np.float32)
    offsets, neighbours = np.array([0, 1, 2]), np.array([1, 0])
    longer = vectors * np.array([[5.0], [0.1]], np.float32)
    np.testing.assert_allclose(smoothed(longer, offsets, neighbours), smoothed(vectors, offsets, neighbours), rtol=1e-6)


@pytest.mark.parametrize("neighbours", [[], [1]])
def test_without_neighbours_that_say_something_a_vector_stays_itself(neighbours):
    vectors = np.array([[3.0, 4.0], [0.0, 0.0]], np.float32)
    offsets = np.array([0, len(neighbours), len(neighbours)])
    np.testing.assert_allclose(smoothed(vectors, offsets, np.array(neighbours, int)), [[0.6, 0.8], [0, 0]], rtol=1e-6)


def test_all_own_changes_nothing_and_none_is_the_neighbours():
    vectors = np.array([EAST, NORTH], np.float32)
    offsets, neighbours = np.array([0, 1, 1]), np.array([1])
    np.testing.assert_allclose(smoothed(vectors, offsets, neighbours, own_share=1.0), vectors)
    np.testing.assert_allclose(smoothed(vectors, offsets, neighbours, own_share=0.0), [NORTH, NORTH])


def test_what_is_handed_in_stays_and_bad_shares_are_refused():
    vectors = np.array([EAST, NORTH], np.float32)
    smoothed(vectors, np.array([0, 1, 1]), np.array([1]))
    np.testing.assert_array_equal(vectors, [EAST, NORTH])
    with pytest.raises(ValueError, match=r"own_share: 1.5 is not allowed; it must lie between 0 and 1"):
        smoothed(vectors, np.array([0, 0, 0]), np.array([], int), own_share=1.5)


def test_no_vectors():
    assert smoothed(np.empty((0, 2), np.float32), np.array([0]), np.array([], int)).shape == (0, 2)
