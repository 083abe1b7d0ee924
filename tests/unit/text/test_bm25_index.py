import math

import numpy as np
import pytest

from hopweave.errors import InvalidImage
from hopweave.storage.images import open_image, write_image
from hopweave.storage.strings import string_hash
from hopweave.text.analyzers import term_counts
from hopweave.text.bm25_index import BM25Index

TEXTS = {1: "tide gate tide", 2: "gate", 5: "ferry ferry ferry harbour"}


def index_of(texts):
    return BM25Index().changed([(row, *term_counts(text.split())) for row, text in texts.items()])


def found(index, terms, top_k=10, allowed=None):
    rows, scores, _ = index.search(terms, top_k, allowed)
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def test_the_formula_by_hand():
    # N 3, mean length (3 + 1 + 4) / 3 = 8/3
    tide = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / (8 / 3)))
    gate = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    gate_in_1 = gate * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 3 / (8 / 3)))
    gate_in_2 = gate * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 1 / (8 / 3)))
    index = index_of(TEXTS)
    assert found(index, {"tide": 1.0}) == pytest.approx({1: tide})
    assert found(index, {"gate": 1.0}) == pytest.approx({1: gate_in_1, 2: gate_in_2})
    assert found(index, {"tide": 1.0, "gate": 1.0}) == pytest.approx({1: tide + gate_in_1, 2: gate_in_2})
    assert found(index, {"tide": 5.0, "gate": 0.5}) == pytest.approx(
        {1: 5 * tide + 0.5 * gate_in_1, 2: 0.5 * gate_in_2}
    )


@pytest.mark.parametrize("terms", [{}, {"sail": 1.0}, {"tide": 0.0}])
def test_what_is_not_said_is_not_found(terms):
    assert found(index_of(TEXTS), terms) == {}


def test_an_empty_index_finds_nothing():
    assert found(BM25Index(), {"tide": 1.0}) == {}
    assert found(index_of({1: ""}), {"tide": 1.0}) == {}
    assert found(index_of({1: "", 2: "tide"}), {"tide": 1.0}).keys() == {2}


def test_ties_at_the_end_come_along():
    index = index_of({1: "tide", 2: "tide", 3: "tide", 4: "tide tide ebb"})
    assert found(index, {"tide": 1.0}, top_k=1).keys() == {1, 2, 3}
    assert found(index, {"ebb": 1.0}, top_k=1).keys() == {4}


def test_only_allowed_rows_are_given_but_statistics_stay():
    index = index_of(TEXTS)
    assert found(index, {"gate": 1.0}, allowed=np.array([2, 5])) == pytest.approx({2: found(index, {"gate": 1.0})[2]})
    assert found(index, {"gate": 1.0}, allowed=np.array([], np.int64)) == {}


def test_a_changed_index_is_a_new_one():
    index = index_of(TEXTS)
    before = found(index, {"gate": 1.0})
    later = index.changed([(9, *term_counts(["gate"]))], np.array([1]))
    assert found(later, {"gate": 1.0}).keys() == {2, 9}
    assert found(later, {"tide": 1.0}) == {}
    assert found(index, {"gate": 1.0}) == before
    assert index.rows.tolist() == [1, 2, 5]


def test_adding_and_deleting_leaves_no_trace():
    index = index_of(TEXTS)
    there_and_back = index.changed([(9, *term_counts(["gate", "ebb"]))]).changed(removed=np.array([9]))
    for term in ("tide", "gate", "ferry", "harbour", "ebb"):
        assert found(there_and_back, {term: 1.0}) == found(index, {term: 1.0})


def test_everything_can_be_deleted_and_added_again():
    index = index_of(TEXTS)
    empty = index.changed(removed=index.rows)
    assert found(empty, {"gate": 1.0}) == {}
    again = empty.changed([(row + 10, *term_counts(text.split())) for row, text in TEXTS.items()])
    assert found(again, {"gate": 1.0}) == {row + 10: score for row, score in found(index, {"gate": 1.0}).items()}


def test_terms_are_counted_under_keys_that_every_process_knows():
    keys, counts = term_counts(["tide", "gate", "tide"])
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == {string_hash("tide"): 2, string_hash("gate"): 1}
    assert keys.tolist() == sorted(keys.tolist())
    assert string_hash("tide") == 16623407075753676503
    assert [len(part) for part in term_counts([])] == [0, 0]
    assert isinstance(string_hash("\ud800"), int)


def test_an_image_of_it_finds_the_same(tmp_path):
    index = index_of(TEXTS).changed([(9, *term_counts(["gate", "ebb"]))], np.array([1]))
    checksum = write_image(tmp_path / "a.image", {}, index.arrays())
    again = BM25Index.from_arrays(open_image(tmp_path / "a.image", checksum).arrays)
    assert again.rows.tolist() == index.rows.tolist() == [2, 5, 9]
    for one, other in ((index, again), (index.changed(removed=np.array([2])), again.changed(removed=np.array([2])))):
        for term in ("tide", "gate", "ferry", "harbour", "ebb"):
            assert found(one, {term: 1.0}) == found(other, {term: 1.0})


@pytest.mark.parametrize("spoil", ["keys", "offsets", "places", "lengths"])
def test_arrays_that_do_not_fit_together_are_refused(spoil):
    arrays = index_of(TEXTS).arrays()
    with pytest.raises(InvalidImage, match="do not fit together"):
        BM25Index.from_arrays({**arrays, spoil: arrays[spoil][:-1]})
    with pytest.raises(InvalidImage, match="do not fit together"):
        BM25Index.from_arrays({**arrays, spoil: arrays[spoil].astype(np.float64)})
    with pytest.raises(InvalidImage, match="lacks the array"):
        BM25Index.from_arrays({name: array for name, array in arrays.items() if name != spoil})


def test_additions_one_by_one_make_few_segments():
    index = BM25Index()
    for row in range(1, 2001):
        index = index.changed([(row, *term_counts([f"word{row % 7}", "gate"]))])
    assert len(index.segments) <= 12
    assert index.size == 2000
    assert found(index, {"word3": 1.0}, top_k=1).keys() == set(range(3, 2001, 7))
