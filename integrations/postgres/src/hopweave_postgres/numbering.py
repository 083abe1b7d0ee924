"""How rows of the database and of the tables in memory are numbered, and how long words and mentions are stored."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from hopweave.graph_store.backend import Array, Numbers

MENTIONS = np.dtype([("node", "<i4"), ("type", "<i2"), ("weight", "<f8")])
NEARBY = np.dtype([("node", "<i4"), ("word", "<i4")])
"""How the resolved mentions of a document, and the words next to them, are stored beside it."""

_MAX_WORD = 100


class Ids:
    """Numbers in the tables and in the database, both ways; -1 stands for none."""

    def __init__(self) -> None:
        self.local: dict[int, int] = {-1: -1}
        self._ids: dict[int, int] = {-1: -1}

    def add(self, number: int, id_: int) -> None:
        """Note that a number in the tables and one in the database belong together."""
        self.local[id_], self._ids[number] = number, id_

    def id(self, number: int) -> int:
        """The number in the database."""
        return self._ids.get(number, -1)

    def pairs(self) -> list[tuple[int, int]]:
        """All numbers in the tables, each with that in the database."""
        return [pair for pair in self._ids.items() if pair[0] >= 0]

    def known(self, size: int) -> Numbers:
        """The numbers in the tables, below a size, that the database knows."""
        return np.array(sorted(number for number in self._ids if 0 <= number < size), np.int64)

    def ids(self, numbers: Array) -> Numbers:
        """The numbers in the database, -1 for those that it does not know."""
        return np.array([self._ids.get(number, -1) for number in numbers.tolist()], np.int64)

    def stored(self, numbers: Array) -> Numbers:
        """The numbers in the database of those that it knows."""
        ids = self.ids(numbers)
        return ids[ids >= 0]

    def locals(self, ids: Iterable[int]) -> Numbers:
        """The numbers in the tables."""
        return np.array([self.local[id_] for id_ in ids], np.int64)


def stored_word(word: str) -> str:
    """A word as it is stored: one that is too long for an index is shortened, with a digest of the rest.

    >>> stored_word("ferry"), len(stored_word("x" * 5000))
    ('ferry', 133)
    """
    if len(word) <= _MAX_WORD:
        return word
    return f"{word[:_MAX_WORD]} {blake2b(word.encode(), digest_size=16).hexdigest()}"
