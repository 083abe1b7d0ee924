"""The latent space: what it learns, what it is silent about, and what its numbers follow from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.errors import InvalidImage
from hopweave.scores import ScoreDistribution
from hopweave.vector.latent_space import LatentSpace, LatentVectors, counts_by_key, summed

SEA, LAND = range(1, 21), range(21, 41)


def texts(count: int, seed: int = 0) -> list:
    """Half of them about the sea, half about the land, each with a few words of its subject."""
    chance = np.random.default_rng(seed)
    subjects = [SEA if number % 2 else LAND for number in range(count)]
    return [counts_by_key({int(key): 1 for key in chance.choice(one, 6, replace=False)}) for one in subjects]


def test_texts_of_one_subject_are_alike_though_they_share_no_word_with_the_question():
    sample = texts(60)
    space = LatentSpace.learned(sample, axes=2)
    vectors = LatentVectors(space.projected(sample))
    asked = 1
    cosines = vectors.cosines(space.question([asked]))
    without_the_word = [place for place, (keys, _) in enumerate(sample) if asked not in keys]
    sea = [cosines[place] for place in without_the_word if place % 2]
    land = [cosines[place] for place in without_the_word if not place % 2]
    assert min(sea) > max(land)


def test_singular_vectors_are_those_of_a_dense_decomposition():
    sample = texts(30)
    space = LatentSpace.learned(sample, axes=5)
    dense = space._weighted(sample).toarray()
    _, _, expected = np.linalg.svd(dense, full_matrices=False)
    axes = space.axes * space.scales[:, None]
    assert np.abs(np.abs((axes * expected[:5].T).sum(axis=0)) - 1).max() < 0.01


def test_a_text_that_is_added_is_projected_as_one_of_the_sample():
    sample = texts(40)
    space = LatentSpace.learned(sample, axes=4)
    together, alone = space.projected(sample), space.projected([sample[7]])
    assert (together[7] == alone[0]).all()


def test_the_same_texts_give_the_same_space_to_the_last_bit():
    one, other = (LatentSpace.learned(texts(50), axes=6) for _ in range(2))
    assert (one.axes == other.axes).all()
    assert (one.scales == other.scales).all()


@pytest.mark.parametrize(
    "sample",
    [[], texts(1), [counts_by_key({1: 1}), counts_by_key({2: 1})], [counts_by_key({})] * 3],
    ids=["no text", "one text", "no shared term", "empty texts"],
)
def test_too_few_texts_have_no_axes(sample):
    space = LatentSpace.learned(sample, axes=200)
    assert space.size == 0
    assert space.question([1, 2]) is None
    assert space.projected(sample).shape == (len(sample), 0)


def test_equal_texts_have_one_direction():
    sample = [counts_by_key({1: 1, 2: 3, 3: 1})] * 5 + [counts_by_key({4: 1})]
    space = LatentSpace.learned(sample, axes=200)
    assert space.size == 1


def test_a_question_of_unknown_words_has_no_direction():
    assert LatentSpace.learned(texts(20), axes=3).question([999]) is None


def test_a_repeated_question_word_counts_once():
    space = LatentSpace.learned(texts(20), axes=3)
    assert (space.question([1, 2, 2, 2]) == space.question([2, 1])).all()


def test_a_space_comes_back_from_its_arrays():
    space = LatentSpace.learned(texts(20), axes=3)
    header, arrays = space.arrays("parts")
    again = LatentSpace.from_arrays(header, arrays, "parts")
    assert (again.projected(texts(20, seed=5)) == space.projected(texts(20, seed=5))).all()


@pytest.mark.parametrize("damage", ["lacks", "shape", "type", "order", "header"])
def test_damaged_arrays_are_refused(damage):
    header, arrays = LatentSpace.learned(texts(20), axes=3).arrays("parts")
    if damage == "lacks":
        del arrays["parts/idf"]
    elif damage == "shape":
        arrays["parts/axes"] = arrays["parts/axes"][1:]
    elif damage == "type":
        arrays["parts/axes"] = arrays["parts/axes"].astype(np.int16)
    elif damage == "order":
        arrays["parts/keys"] = arrays["parts/keys"][::-1]
    else:
        header["parts"]["mean_length"] = 0
    with pytest.raises(InvalidImage):
        LatentSpace.from_arrays(header, arrays, "parts")


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 9))
def test_the_distribution_is_that_of_all_cosines(count, size, seed):
    chance = np.random.default_rng(seed)
    vectors = LatentVectors(chance.integers(-127, 128, (count, size)).astype(np.int8))
    direction = chance.normal(size=size)
    direction /= np.linalg.norm(direction)
    stated, counted = vectors.distribution(direction), ScoreDistribution.of(vectors.cosines(direction), count)
    assert stated.documents == counted.documents
    assert stated.mean == pytest.approx(counted.mean, abs=1e-9)
    assert stated.deviation == pytest.approx(counted.deviation, abs=1e-6)


def test_counts_of_parts_add_up_to_those_of_the_whole():
    keys, counts = summed([counts_by_key({1: 1, 5: 2}), counts_by_key({5: 1}), counts_by_key({})])
    assert (keys.tolist(), counts.tolist()) == ([1, 5], [1, 3])
