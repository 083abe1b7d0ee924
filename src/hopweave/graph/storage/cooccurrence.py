"""Which words occur next to the names of nodes, so which nodes are of the kind a question asks for."""

import math
from collections.abc import Iterable

import numpy as np

from hopweave.graph.storage.tables import GraphTables
from hopweave.language.stop_words import STOP_WORDS
from hopweave.storage.columns import Array, FrozenRows, Numbers
from hopweave.storage.strings import string_hash

MIN_STEM = 4
"""Letters that words of one stem begin with, at least."""
MAX_ENDING = 3
"""Letters they may end with beyond that."""
MIN_SHARED_LETTERS = 0.6
"""What they share of the longer word's letters, at least."""
_GROUPS_KEPT = 10_000


class Cooccurrence:
    """How closely words occur next to the names of nodes, as the tables say at one moment.

    The share of a word and a node is (passages where the word occurs next to the name) / (1 + passages with the name).
    The rarity of a word is that among the documents in which it occurs next to any name.
    """

    def __init__(self, tables: GraphTables, passages: Array) -> None:
        self._tables, self._passages = tables, passages
        self._near: FrozenRows = tables.near.frozen()
        self._documents, self._near_documents = tables.documents, tables.words["near_documents"].copy()
        self._groups: dict[str, tuple[list[int], float]] = {}

    def closeness(self, words: Iterable[str]) -> tuple[Numbers, Array]:
        """The nodes with names next to which forms of these casefolded words occur, each once, and how closely.

        closeness = Σ rarity(word) · min(1, Σ shares of words with its stem) / Σ rarity(word), over the words that have
        any of the same stem here.
        """
        content_words = (word for word in dict.fromkeys(words) if word not in STOP_WORDS)
        groups = [group for word in content_words if (group := self._group(word))[0]]
        if not groups:
            return np.empty(0, np.int64), np.empty(0)
        weights = np.array([rarity for _, rarity in groups])
        size = len(self._passages)
        lengths, (nodes, counts) = self._near.gather(np.array([number for group, _ in groups for number in group]))
        group_of_word = np.arange(len(groups)).repeat([len(group) for group, _ in groups])
        keys, sums = _summed((group_of_word * size).repeat(lengths) + nodes, counts.astype(np.float64))
        there = (sums > 0).nonzero()[0]
        group_of_key, nodes = np.divmod(keys[there], size)
        shares = np.minimum(sums[there] / (1 + self._passages[nodes]), 1.0)
        return _summed(nodes, shares * (weights / weights.sum())[group_of_key])

    def _group(self, word: str) -> tuple[list[int], float]:
        """The words here with the same stem as a word, and the rarity of the rarest; questions use few words often."""
        group = self._groups.get(word)
        if group is None:
            if len(self._groups) > _GROUPS_KEPT:
                self._groups = {}
            numbers = self._stem_group(word)
            near = (int(self._near_documents[number]) for number in numbers)
            group = numbers, max((rarity(documents, self._documents) for documents in near), default=0.0)
            self._groups[word] = group
        return group

    def _stem_group(self, word: str) -> list[int]:
        """The numbers of the words here that have the same stem as a word."""
        spelled = self._tables.word_strings
        known = [number for number in self._tables.stems.find(stem_hash(word)) if number < len(self._near_documents)]
        found = {number for number in known if self._near_documents[number] and same_stem(word, spelled[number])}
        return sorted(found, key=spelled.__getitem__)


def rarity(near_documents: int, documents: int) -> float:
    """log(1 + (N - n + 0.5) / (n + 0.5)) for a word that occurs next to any name in n of N documents.

    >>> round(rarity(1, 2), 3)
    0.693
    """
    return math.log(1 + (documents - near_documents + 0.5) / (near_documents + 0.5))


def stem_hash(word: str) -> int:
    """A hash that words of the same stem share.

    >>> stem_hash("director") == stem_hash("directed"), stem_hash("sea") == stem_hash("seas")
    (True, False)
    """
    return string_hash(word[:MIN_STEM])


def same_stem(one: str, other: str) -> bool:
    """Whether two words are likely forms of one: they begin alike and differ by short endings only.

    >>> same_stem("director", "directed"), same_stem("countries", "country"), same_stem("state", "station")
    (True, True, False)
    >>> same_stem("sea", "seas"), same_stem("sea", "sea")
    (False, True)
    """
    longer = max(len(one), len(other))
    needed = max(MIN_STEM, longer - MAX_ENDING, math.ceil(MIN_SHARED_LETTERS * longer))
    return one[:needed] == other[:needed]


def _summed(keys: Numbers, values: Array) -> tuple[Numbers, Array]:
    """Each key once, in order, with the sum of its values."""
    order = keys.argsort(kind="stable")
    keys = keys[order]
    first = np.ones(len(keys), np.bool_)
    first[1:] = keys[1:] != keys[:-1]
    distinct = keys[first]
    return distinct, np.bincount(first.cumsum() - 1, values[order], len(distinct)).astype(np.float64, copy=False)
