"""Segments: rows that come and go, and joining that keeps them few."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.storage.segments import RowSegment, changed, rows_of


def segment(*rows):
    return RowSegment(np.array(rows, np.int64))


def join(segments):
    return RowSegment(rows_of(segments))


def size(one):
    return len(one.rows)


def test_removed_rows_are_marked_and_the_segment_before_stays_as_it_was():
    before = segment(2, 4, 6)
    after = before.without(np.array([1, 4, 9]))
    assert (before.size, before.gone, after.size, after.kept.tolist()) == (3, None, 2, [True, False, True])
    assert after.without(np.array([2])).kept.tolist() == [False, False, True]


def test_a_segment_without_any_of_the_rows_is_the_same_object():
    before = segment(2, 4)
    assert before.without(np.array([3, 5])) is before


@pytest.mark.parametrize(
    ("sizes", "added", "left"), [((10, 4), 1, [10, 4, 1]), ((10, 4), 2, [16]), ((10, 3), 1, [10, 3, 1])]
)
def test_segments_are_joined_unless_the_one_before_is_more_than_twice_as_large(sizes, added, left):
    starts = np.cumsum([0, *sizes])
    segments = [segment(*range(start, start + count)) for start, count in zip(starts, sizes, strict=False)]
    found = changed(segments, segment(*range(100, 100 + added)), None, join, size)
    assert [len(one.rows) for one in found] == left


@given(st.lists(st.tuples(st.integers(1, 9), st.sets(st.integers(0, 60))), max_size=12))
def test_the_rows_are_those_added_and_not_removed_and_segments_stay_few(edits):
    segments, expected, row = [], set(), 0
    for count, removed in edits:
        expected = (expected - removed) | set(range(row, row + count))
        segments = changed(segments, segment(*range(row, row + count)), np.array(sorted(removed), np.int64), join, size)
        row += count
        assert rows_of(segments).tolist() == sorted(expected)
        assert all(len(one.rows) > 2 * len(other.rows) for one, other in itertools.pairwise(segments))
