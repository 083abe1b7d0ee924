"""Numbered strings that are looked up by hash, so that opening many of them builds no dictionary."""

from array import array
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np

from hopweave.concurrency.once import WORDS_KEPT, string_cache
from hopweave.storage.columns import Array, Column, Numbers


@string_cache(WORDS_KEPT)
def string_hash(text: str) -> int:
    """A 64-bit hash of a string, the same in every process, so that it can stand for a word without a list of words.

    >>> string_hash("Skua") == string_hash("Skua"), string_hash("Skua") == string_hash("skua")
    (True, False)
    """
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


class HashIndex:
    """Numbers by 64-bit hash; several numbers may share one hash.

    >>> index = HashIndex.empty()
    >>> index.add(7, 0)
    >>> index.add(7, 3)
    >>> index.find(7), index.find(8)
    ([0, 3], [])
    """

    def __init__(self, hashes: Array, numbers: Array) -> None:
        """Hashes in order, with the number that belongs to each."""
        self._hashes, self._numbers = hashes, numbers
        # What was added, in flat arrays: with an object for each hash, garbage collections would take long.
        self._added_hashes, self._added_numbers = array("Q"), array("q")
        self._place_before = array("q")  # for each of these the place of the one before with the same hash, or -1
        self._last_place: dict[int, int] = {}  # by hash
        self._sorted = np.empty(0, hashes.dtype), np.empty(0, numbers.dtype)  # the first of what was added, by hash
        self._sorting = Lock()

    @classmethod
    def empty(cls) -> "HashIndex":
        """Nothing yet."""
        return cls(np.empty(0, np.uint64), np.empty(0, np.int32))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> "HashIndex":
        """The index that `arrays` described."""
        return cls(arrays["hashes"], arrays["numbers"])

    def arrays(self) -> dict[str, Array]:
        """All hashes in order, and their numbers."""
        added, numbers = self._overlay()
        hashes, numbers = np.concatenate([self._hashes, added]), np.concatenate([self._numbers, numbers])
        order = np.lexsort((numbers, hashes))
        return {"hashes": hashes[order], "numbers": numbers[order]}

    def add(self, hash_: int, number: int) -> None:
        """One more number with this hash."""
        self._place_before.append(self._last_place.get(hash_, -1))
        self._added_hashes.append(hash_)
        self._added_numbers.append(number)
        self._last_place[hash_] = len(self._added_numbers) - 1

    def find(self, hash_: int) -> list[int]:
        """The numbers with this hash."""
        added: list[int] = []
        place = self._last_place.get(hash_, -1)
        while place >= 0:
            added.append(self._added_numbers[place])
            place = self._place_before[place]
        if not len(self._hashes):
            return added[::-1]
        first, last = (int(self._hashes.searchsorted(np.uint64(hash_), side)) for side in ("left", "right"))
        return [*self._numbers[first:last].tolist(), *added[::-1]]

    def find_many(self, hashes: Array) -> tuple[Numbers, Numbers]:
        """Pairs of a position in `hashes` and a number that has this hash."""
        places, numbers = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for known, values in ((self._hashes, self._numbers), self._overlay()):
            if not len(known):
                continue
            first = known.searchsorted(hashes)
            there = (first < len(known)).nonzero()[0]
            there = there[known[first[there]] == hashes[there]]  # few, so only for these it is asked how many there are
            first = first[there]
            counts = known.searchsorted(hashes[there], side="right") - first
            positions = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
            places.append(np.repeat(there, counts))
            numbers.append(values[positions].astype(np.int64))
        return np.concatenate(places), np.concatenate(numbers)

    def _overlay(self) -> tuple[Array, Array]:
        """Return the added strings sorted by hash, after merging those added since the last call."""
        with self._sorting:
            hashes, numbers = self._sorted
            first, last = len(hashes), len(self._added_numbers)
            if first < last:
                new = np.array(self._added_hashes[first:last], hashes.dtype)
                order = np.argsort(new, kind="stable")
                new, new_numbers = new[order], np.array(self._added_numbers[first:last], numbers.dtype)[order]
                places = hashes.searchsorted(new, side="right")
                self._sorted = np.insert(hashes, places, new), np.insert(numbers, places, new_numbers)
            return self._sorted


class StringTable:
    """Distinct strings, numbered in the order in which they were added.

    >>> table = StringTable.empty()
    >>> table.add_all(["tide", "gate", "tide"]).tolist(), table.get("gate"), table.get("ferry"), table[0]
    ([0, 1, 0], 1, -1, 'tide')
    """

    def __init__(self, text: Array, ends: Array, hashes: Array, index: HashIndex) -> None:
        """UTF-8 text end to end, where each string ends in it, and its hash."""
        self._text, self._ends = text, ends
        self._hashes = Column(hashes)
        self._index = index
        self._added: list[str] = []
        self._known: dict[str, int] = {}

    @classmethod
    def empty(cls) -> "StringTable":
        """No strings yet."""
        return cls(np.empty(0, np.uint8), np.empty(0, np.int64), np.empty(0, np.uint64), HashIndex.empty())

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> "StringTable":
        """The table that `arrays` described."""
        order = arrays["order"]
        index = HashIndex(arrays["sorted"], order)
        return cls(arrays["text"], arrays["ends"], arrays["hashes"], index)

    def arrays(self) -> dict[str, Array]:
        """The strings as bytes, where each ends, their hashes, and these in order with their numbers."""
        added = [text.encode("utf-8", "surrogatepass") for text in self._added]
        last = int(self._ends[-1]) if len(self._ends) else 0
        hashes = np.array(self.hashes)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        return {
            "text": np.concatenate([self._text, np.frombuffer(b"".join(added), np.uint8)]),
            "ends": np.concatenate([self._ends, last + np.cumsum([len(text) for text in added], dtype=np.int64)]),
            "hashes": hashes,
            "order": order,
            "sorted": hashes[order],
        }

    @property
    def hashes(self) -> Array:
        """The hash of every string, by number."""
        if len(self._hashes) < len(self):
            new = self._added[len(self._hashes) - len(self._ends) :]
            self._hashes.append(np.array([string_hash(text) for text in new], np.uint64))
        return self._hashes.values

    def __len__(self) -> int:
        return len(self._ends) + len(self._added)

    def __getitem__(self, number: int) -> str:
        base = len(self._ends)
        if number >= base:
            return self._added[number - base]
        start = int(self._ends[number - 1]) if number else 0
        return self._text[start : int(self._ends[number])].tobytes().decode("utf-8", "surrogatepass")

    def get(self, text: str) -> int:
        """The number of a string; -1 if it is not here."""
        found = self._known.get(text)
        if found is not None:
            return found
        if not len(self._ends):
            return -1
        for number in self._index.find(string_hash(text)):
            if self[number] == text:
                self._known[text] = number
                return number
        return -1

    def find_all(self, texts: Sequence[str]) -> list[int]:
        """The numbers of strings; -1 for one that is not here.

        >>> table = StringTable.empty()
        >>> _ = table.add_all(["tide", "gate"])
        >>> StringTable.from_arrays(table.arrays()).find_all(["gate", "ferry"])
        [1, -1]
        """
        found = [self._known.get(text, -1) for text in texts]
        unknown = [place for place, number in enumerate(found) if number < 0] if len(self._ends) else []
        if unknown:
            hashes = np.array([string_hash(texts[place]) for place in unknown], np.uint64)
            for place, number in zip(*(part.tolist() for part in self._index.find_many(hashes)), strict=True):
                text = texts[unknown[place]]
                if self[number] == text:
                    found[unknown[place]] = self._known[text] = number
        return found

    def add(self, text: str) -> int:
        """The number of a string, which is added if it is not here."""
        number = self.get(text)
        if number < 0:
            number = self._known[text] = len(self)
            self._added.append(text)
        return number

    def add_all(self, texts: Sequence[str]) -> Numbers:
        """The numbers of strings; those that are not here are added."""
        found = list(map(self._known.get, texts))
        if None in found:
            found = [self.add(text) if number is None else number for text, number in zip(texts, found, strict=True)]
        return np.array(found, np.int64)
