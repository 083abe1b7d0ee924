"""Numbered strings: a dictionary is the oracle."""

import tracemalloc

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.storage.strings import HashIndex, StringTable, string_hash

words = st.lists(st.text(max_size=4), max_size=8)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(words, st.booleans()), max_size=6))
def test_strings_keep_their_numbers_when_stored(batches):
    table, numbers = StringTable.empty(), {}
    for batch, stored in batches:
        for word in batch:
            numbers.setdefault(word, len(numbers))
        assert table.add_all(batch).tolist() == [numbers[word] for word in batch]
        if stored:
            table = StringTable.from_arrays(table.arrays())
        assert {word: table.get(word) for word in numbers} == numbers
        assert [table[number] for number in range(len(table))] == list(numbers)
        assert table.hashes.tolist() == [string_hash(word) for word in numbers]
    assert table.get("not among them") == -1


def test_unpaired_surrogates_are_strings_too():
    table = StringTable.empty()
    number = table.add("\ud800")
    assert StringTable.from_arrays(table.arrays())[number] == "\ud800"


hashes = st.integers(0, 2**64 - 1) | st.integers(0, 3)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(hashes, st.integers(0, 1000)), max_size=10), st.integers(0, 10), st.lists(hashes, max_size=5))
def test_numbers_by_hash(pairs, stored, wanted):
    index = HashIndex.empty()
    for hash_, number in pairs[:stored]:
        index.add(hash_, number)
    index = HashIndex.from_arrays(index.arrays())
    for hash_, number in pairs[stored:]:
        index.add(hash_, number)
        if number % 2:  # what was looked up before must not hide what is added later
            index.find_many(np.array([hash_], np.uint64))
    wanted = [*wanted, *(hash_ for hash_, _ in pairs)]
    for hash_ in wanted:
        assert sorted(index.find(hash_)) == sorted(number for known, number in pairs if known == hash_)
    places, numbers = index.find_many(np.array(wanted, np.uint64))
    found = sorted(zip(places.tolist(), numbers.tolist(), strict=True))
    assert found == sorted(
        (place, number) for place, hash_ in enumerate(wanted) for known, number in pairs if known == hash_
    )


def allocated(index: HashIndex, count: int) -> int:
    """The bytes that are allocated, in all, to add so many numbers with one hash."""
    total = 0
    tracemalloc.start()
    for number in range(count):
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        index.add(7, number)
        total += tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return total


def test_numbers_with_one_hash_are_added_in_linear_time():
    assert allocated(HashIndex.empty(), 8000) < 2 * 8 * allocated(HashIndex.empty(), 1000)


def test_one_more_number_costs_the_same_in_a_large_bucket():
    hashes, numbers = np.full(100_000, 7, np.uint64), np.arange(100_000, dtype=np.int32)
    large = HashIndex(hashes, numbers)
    assert allocated(large, 100) <= allocated(HashIndex.empty(), 100)
    assert len(large.find(7)) == 100_100
    assert len(large.find_many(np.array([7], np.uint64))[1]) == 100_100
