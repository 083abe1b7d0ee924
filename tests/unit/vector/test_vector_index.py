import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.errors import InvalidImage
from hopweave.storage.images import open_image, write_image
from hopweave.vector.vector_index import VectorIndex


def vectors(count, dimension=16, seed=0):
    return np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)


def unit(matrix):
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def index_of(matrix, **how):
    return VectorIndex(matrix.shape[1], **how).changed(np.arange(1, len(matrix) + 1), matrix)


def best(index, question, top_k, allowed=None):
    rows, cosines, _ = index.search(question, top_k, allowed)
    order = sorted(zip((-cosines).tolist(), rows.tolist(), strict=True))
    return [row for _, row in order][:top_k], sorted(cosines.tolist(), reverse=True)[:top_k]


def test_cosines_by_hand():
    index = index_of(np.array([[3, 0], [0, 2], [-1, 0], [1, 1]], np.float32))
    rows, cosines, _ = index.search(np.array([5, 0], np.float32), 4)
    assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)) == pytest.approx({1: 1, 2: 0, 3: -1, 4: 0.5**0.5})


@pytest.mark.parametrize("count", [1, 2, 50, 500])
@pytest.mark.parametrize("top_k", [1, 7, 1000])
def test_exact_search_is_brute_force(count, top_k):
    matrix, question = vectors(count), vectors(1, seed=1)[0]
    expected = unit(matrix) @ unit(question[None])[0]
    rows, cosines = best(index_of(matrix), question, top_k)
    assert rows == (np.argsort(-expected, kind="stable") + 1)[:top_k].tolist()
    assert cosines == pytest.approx(np.sort(expected)[::-1][:top_k].tolist(), abs=1e-6)


def test_an_empty_index_a_zero_question_and_zero_vectors_find_nothing():
    assert best(VectorIndex(2), np.ones(2, np.float32), 5) == ([], [])
    index = index_of(np.array([[0, 0], [1, 0], [0, 0]], np.float32))
    assert best(index, np.zeros(2, np.float32), 5) == ([], [])
    assert best(index, np.ones(2, np.float32), 5)[0] == [2]
    assert best(index_of(np.zeros((3, 2), np.float32)), np.ones(2, np.float32), 5) == ([], [])


def test_very_long_and_very_short_vectors_keep_their_direction():
    index = index_of(np.array([[1e30, 0], [0, 1e-15]], np.float32))
    rows, cosines, _ = index.search(np.array([3e30, 4e30], np.float32), 2)
    assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)) == pytest.approx({1: 3 / 5, 2: 4 / 5})


def test_ties_at_the_end_come_along():
    matrix = np.array([[1, 0]] * 100 + [[0, 1]], np.float32)
    rows, cosines, _ = index_of(matrix).search(np.array([1, 0.1], np.float32), 3)
    assert sorted(rows[cosines == cosines[0]].tolist()) == list(range(1, 101))


def test_the_same_vector_has_the_same_cosine_in_whatever_company():
    matrix, question = vectors(20_000, 64), vectors(1, 64, seed=1)[0]
    whole = index_of(matrix)
    few = VectorIndex(64).changed(np.arange(19_001, 20_001), matrix[19_000:])
    allowed = np.arange(10, 500)
    everything = dict(zip(*(part.tolist() for part in whole.search(question, 20_000)[:2]), strict=True))
    # the same vector, not nearly the same: documents with equal vectors must tie, wherever they are kept
    for rows, cosines, _ in (
        few.search(question, 1000),
        whole.search(question, 20),
        whole.search(question, 500, allowed),
    ):
        assert dict(zip(rows.tolist(), cosines.tolist(), strict=True)).items() <= everything.items()


@pytest.mark.parametrize("approximate_above", [1000, 100])
def test_only_allowed_rows_are_given(approximate_above):
    index = index_of(vectors(300), approximate_above=approximate_above)
    index = VectorIndex.from_arrays(*index.arrays(), approximate_above)
    assert set(best(index, vectors(1, seed=1)[0], 50, np.array([3, 7, 200, 999]))[0]) == {3, 7, 200}
    assert best(index, vectors(1, seed=1)[0], 50, np.array([], np.int64)) == ([], [])


def test_a_changed_index_is_a_new_one():
    matrix = vectors(20)
    index = index_of(matrix)
    before = best(index, matrix[3], 20)
    later = index.changed(np.array([30, 31]), vectors(2, seed=2), np.array([4, 5]))
    assert best(index, matrix[3], 20) == before
    assert set(best(later, matrix[3], 30)[0]) == {*range(1, 21), 30, 31} - {4, 5}


@given(st.data())
def test_any_adding_and_deleting_equals_a_fresh_build(data):
    index, truth, row = VectorIndex(4), {}, 0
    for _ in range(data.draw(st.integers(1, 6))):
        added = data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), max_size=4))
        rows = np.arange(row + 1, row + 1 + len(added))
        row += len(added)
        removed = data.draw(st.lists(st.sampled_from(sorted(truth)), unique=True)) if truth else []
        index = index.changed(rows, np.array(added, np.float32).reshape(-1, 4), np.array(removed, np.int64))
        truth.update(zip(rows.tolist(), added, strict=True))
        truth = {key: value for key, value in truth.items() if key not in removed}
    fresh = VectorIndex(4).changed(
        np.array(list(truth), np.int64), np.array(list(truth.values()), np.float32).reshape(-1, 4)
    )
    assert best(index, np.array([1, 2, 3, 4], np.float32), 99) == best(fresh, np.array([1, 2, 3, 4], np.float32), 99)


# Above a size, in cells


def in_cells(index):
    """The index as it is after an image of it has been made and read."""
    index.approximate_above = 1000
    return VectorIndex.from_arrays(*index.arrays(), 1000)


def clustered(count, dimension=32, seed=0):
    """Vectors around 40 centres, as those of texts with topics are."""
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(40, dimension))
    return (centres[chance.integers(40, size=count)] + chance.normal(size=(count, dimension))).astype(np.float32)


def recall(index, truth, questions, top_k=20):
    found = 0
    for question in questions:
        expected, _ = best(truth, question, top_k)
        found += len(set(expected) & set(best(index, question, top_k)[0]))
    return found / len(questions) / top_k


@pytest.mark.parametrize("make", [vectors, clustered])
def test_cells_hold_nearly_all_with_the_same_cosines(make):
    exact, index = index_of(make(5000, 32)), in_cells(index_of(make(5000, 32)))
    questions = make(50, 32, seed=5)
    assert index._segments[0].cells is not None
    assert recall(index, exact, questions) >= 0.98
    found = dict(zip(*(part.tolist() for part in index.search(questions[0], 10)[:2]), strict=True))
    everything = dict(zip(*(part.tolist() for part in exact.search(questions[0], 5000)[:2]), strict=True))
    assert found == pytest.approx({row: everything[row] for row in found}, abs=1e-6)


def test_cells_are_worth_it():
    index = in_cells(index_of(clustered(20_000)))
    cells = index._segments[0].cells
    assert cells.probes <= len(cells.centroids) / 2


def test_recall_after_a_fifth_has_changed_and_nothing_deleted_is_found():
    matrix, extra = clustered(5000), clustered(1000, seed=3)
    gone, later = np.arange(1, 1001), np.arange(9001, 10_001)
    index = in_cells(index_of(matrix)).changed(later, extra, gone)
    truth = VectorIndex(32).changed(np.arange(1001, 5001), matrix[1000:]).changed(later, extra)
    questions = clustered(50, seed=5)
    assert recall(index, truth, questions) >= 0.98
    assert all(not set(best(index, question, 500)[0]) & set(gone.tolist()) for question in questions[:5])
    assert best(index, extra[7], 1)[0] == [9008]
    assert index.rows.tolist() == truth.rows.tolist()
    again = in_cells(index)
    assert again.rows.tolist() == truth.rows.tolist()
    assert recall(again, truth, questions) >= 0.98


def test_as_many_as_asked_for_are_found_though_many_are_gone():
    index = in_cells(index_of(clustered(2000))).changed(removed=np.arange(1, 901))
    assert len(best(index, clustered(1, seed=5)[0], 1000)[0]) == 1000
    few = index.changed(removed=np.arange(901, 1951))  # so few that the search is exact again
    assert set(best(few, clustered(1, seed=5)[0], 50)[0]) == set(range(1951, 2001))


def test_an_image_of_it_finds_the_same(tmp_path):
    index = index_of(vectors(500)).changed(np.array([900]), vectors(1, seed=4), np.array([3]))
    for above in (100, 1000):
        index.approximate_above = above
        header, arrays = index.arrays()
        checksum = write_image(tmp_path / "a.image", header, arrays)
        image = open_image(tmp_path / "a.image", checksum)
        again = VectorIndex.from_arrays(image.header, image.arrays, above)
        question = vectors(1, seed=9)[0]
        assert best(again, question, 500)[0] == best(index, question, 500)[0]


def test_arrays_that_do_not_fit_together_are_refused():
    header, arrays = index_of(vectors(200), approximate_above=100).arrays()
    for name in arrays:
        with pytest.raises(InvalidImage):
            VectorIndex.from_arrays(header, {**arrays, name: arrays[name][:-1]})
        with pytest.raises(InvalidImage):
            VectorIndex.from_arrays(header, {**arrays, name: arrays[name].astype(np.float64)})
    for probes in ("all", -1, True):
        with pytest.raises(InvalidImage):
            VectorIndex.from_arrays({"probes": probes}, arrays)
    with pytest.raises(InvalidImage):
        VectorIndex.from_arrays({}, arrays)


def test_a_search_in_cells_estimates_how_all_cosines_lie():
    matrix = clustered(5000)
    exact, cells = index_of(matrix), in_cells(index_of(matrix, approximate_above=1000))
    for question in vectors(5, 32, seed=3):
        truth, estimate = exact.search(question, 10)[2], cells.search(question, 10)[2]
        assert estimate.documents == truth.documents == 5000
        assert estimate.mean == pytest.approx(truth.mean, abs=0.05)
        assert estimate.deviation == pytest.approx(truth.deviation, rel=0.15)
