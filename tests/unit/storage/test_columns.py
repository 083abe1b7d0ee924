"""Columns and ragged rows: plain lists are the oracle."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.storage.columns import Column, ColumnTable, RaggedRows

entries = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), max_size=6)
changes = st.lists(st.tuples(st.sampled_from(["replace", "extend", "store"]), st.integers(0, 4), entries), max_size=15)


def fields(pairs):
    return [np.array([pair[place] for pair in pairs], np.int64) for place in (0, 1)]


def contents(rows, count=5):
    return [list(zip(*(field.tolist() for field in rows.row(number)), strict=True)) for number in range(count)]


def test_a_column_grows_and_leaves_what_was_handed_out():
    base = np.array([1, 2], np.int32)
    column = Column(base)
    before = column.values
    assert column.append([3]) == 2
    column.resize(6, fill=9)
    column.resize(2)
    assert column.values.tolist() == [1, 2, 3, 9, 9, 9]
    assert before.tolist() == [1, 2]
    assert column.dtype == np.int32


def test_a_table_fills_columns_that_are_not_given():
    table = ColumnTable({"kind": np.int16, "count": np.int32})
    assert table.append(2, kind=[4, 5]) == 0
    assert table.append(1, count=[7]) == 2
    assert {name: array.tolist() for name, array in table.arrays().items()} == {"kind": [4, 5, 0], "count": [0, 0, 7]}
    again = ColumnTable({"kind": np.int16, "count": np.int32}, table.arrays())
    assert again["count"].tolist() == [0, 0, 7]


@settings(max_examples=150, deadline=None)
@given(changes)
def test_rows_do_what_lists_do(history):
    rows, lists = RaggedRows.empty({"one": np.int32, "other": np.int16}), [[] for _ in range(5)]
    rows.resize(5)
    kept = []
    for action, row, pairs in history:
        kept.append((rows.frozen(), [list(one) for one in lists]))
        if action == "replace":
            rows.replace(np.array([row]), np.array([len(pairs)]), fields(pairs))
            lists[row] = list(pairs)
        elif action == "extend":
            rows.extend(np.full(len(pairs), row), fields(pairs))
            lists[row] += pairs
        else:
            rows = RaggedRows.from_arrays(rows.arrays())
        assert contents(rows) == lists
    for frozen, expected in kept:
        assert contents(frozen) == expected


@settings(max_examples=100, deadline=None)
@given(st.lists(entries, min_size=4, max_size=4), st.lists(entries, min_size=4, max_size=4), st.permutations(range(4)))
def test_many_rows_come_end_to_end_in_the_order_asked(stored, added, order):
    rows = RaggedRows.empty({"one": np.int32, "other": np.int16})
    rows.resize(4)
    flat = [pair for row in stored for pair in row]
    rows.replace(np.arange(4), np.array([len(row) for row in stored]), fields(flat))
    rows = RaggedRows.from_arrays(rows.arrays())  # now they are the base, and what follows moves behind it
    for row in (1, 3):
        rows.extend(np.full(len(added[row]), row), fields(added[row]))
    expected = [stored[row] + (added[row] if row in (1, 3) else []) for row in order]
    lengths, (one, other) = rows.gather(np.array(order))
    assert lengths.tolist() == [len(row) for row in expected]
    assert list(zip(one.tolist(), other.tolist(), strict=True)) == [pair for row in expected for pair in row]


def test_several_rows_are_extended_at_once():
    rows = RaggedRows.empty({"value": np.int32})
    rows.resize(3)
    rows.extend(np.array([2, 0, 2]), [np.array([5, 6, 7])])
    rows.extend(np.array([0, 2, 1]), [np.array([1, 2, 3])])
    assert [rows.row(number)[0].tolist() for number in range(3)] == [[6, 1], [3], [5, 7, 2]]
