"""Finds many names in many texts at once: a trie over words that walks all positions of all texts together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.graph.words import BREAK

Numbers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]


class Vocabulary:
    """Words by number, as they are written, with their folded form; it grows with the texts that are read.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.read("Harris or harris").tolist(), vocabulary.folded
    ([0, 1, 2], [0, 1, 0])
    """

    def __init__(self) -> None:
        self.codes: dict[str, int] = {}
        self.folded: list[int] = []
        self.upper: list[bool] = []
        self.lower: list[bool] = []
        self._spellings: dict[str, int] = {}

    def read(self, text: str) -> Numbers:
        """The numbers of the words of a word string (see `word_string`)."""
        spellings, words = self._spellings, text.split(" ") if text else []
        for word in words:
            if word not in spellings:
                spellings[word] = len(spellings)
                self.folded.append(self.codes.setdefault(word.casefold(), len(self.codes)))
                self.upper.append(word[0].isupper() or word[0].istitle())
                self.lower.append(word[0].islower())
        return np.array([spellings[word] for word in words], np.int32)


class WordTable:
    """Texts, as a vocabulary has read them, end to end: the folded words by number, and how each is written.

    >>> table = WordTable.of(["She sails to Harris .", "harris"])
    >>> table.words.tolist(), table.ends.tolist(), table.upper.tolist()
    ([0, 1, 2, 3, 4, 3], [5, 6], [True, False, False, True, False, False])
    """

    def __init__(self, texts: Sequence[Numbers], vocabulary: Vocabulary) -> None:
        spelled = np.concatenate([np.zeros(0, np.int32), *texts])
        self.codes = vocabulary.codes
        self.ends: Numbers = np.cumsum([len(text) for text in texts], dtype=np.int64)
        self.words: Numbers = np.array(vocabulary.folded, np.int64)[spelled]
        self.upper: Flags = np.array(vocabulary.upper, np.bool_)[spelled]
        self.lower: Flags = np.array(vocabulary.lower, np.bool_)[spelled]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "WordTable":
        """The table of word strings."""
        vocabulary = Vocabulary()
        return cls([vocabulary.read(text) for text in texts], vocabulary)

    def common_words(self) -> frozenset[str]:
        """Words that are written small more often than with a capital inside a sentence: they name nothing alone.

        >>> sorted(WordTable.of(["Film is a film about Harris . We like Film", "the film"]).common_words())
        ['a', 'about', 'film', 'is', 'like', 'the']
        """
        before = np.empty_like(self.words)
        before[1:] = self.words[:-1]
        before[self.ends[self.ends < len(before)]] = self.codes.get(BREAK, -1)
        before[:1] = self.codes.get(BREAK, -1)
        inside = before != self.codes.get(BREAK, -1)
        small = np.bincount(self.words[self.lower], minlength=len(self.codes))
        capital = np.bincount(self.words[self.upper & inside], minlength=len(self.codes))
        return frozenset(word for word, more in zip(self.codes, small > capital, strict=True) if more)


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where names were found: which name, in which text, from which position of the table, over how many words."""

    names: Numbers
    texts: Numbers
    positions: Numbers
    lengths: Numbers


def find_names(table: WordTable, names: Sequence[str]) -> Occurrences:
    """Every place where one of the names (folded words, one space between) stands in a text.

    Of names that start at the same word the longest counts; a name that overlaps an earlier one does not.

    >>> found = find_names(WordTable.of(["from New York City to York"]), ["york", "new york", "new york city"])
    >>> found.names.tolist(), found.positions.tolist(), found.lengths.tolist()
    ([2, 0], [1, 5], [3, 1])
    """
    keys, states, named, vocabulary = _trie(table.codes, names)
    text_of = np.repeat(np.arange(len(table.ends)), np.diff(table.ends, prepend=0))
    longest = np.zeros(len(table.words), dtype=np.int64)
    matched = np.full(len(table.words), -1, dtype=np.int64)
    starts = np.arange(len(table.words) if len(keys) else 0)
    at = np.zeros(len(starts), dtype=np.int64)
    depth = 0
    while len(starts):
        wanted = at * vocabulary + table.words[starts + depth]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        alive = keys[place] == wanted
        starts, at = starts[alive], states[place[alive]]
        depth += 1
        complete = named[at] >= 0
        longest[starts[complete]] = depth
        matched[starts[complete]] = named[at[complete]]
        further = starts + depth < table.ends[text_of[starts]]  # a name does not run over into the next text
        starts, at = starts[further], at[further]
    chosen = _without_overlaps(np.flatnonzero(longest), longest)
    return Occurrences(matched[chosen], text_of[chosen], chosen, longest[chosen])


def _trie(codes: dict[str, int], names: Sequence[str]) -> tuple[Numbers, Numbers, Numbers, int]:
    """Steps `state * vocabulary + word` in order, the state each leads to, and the name that ends in each state."""
    vocabulary = len(codes) + 1
    steps: dict[int, int] = {}
    named = [-1]
    for number, name in enumerate(names):
        path = [codes.get(word, -1) for word in name.split(" ")]
        if min(path) < 0:
            continue  # one of its words is in no text
        state = 0
        for code in path:
            state = steps.setdefault(state * vocabulary + code, len(named))
            if state == len(named):
                named.append(-1)
        named[state] = number
    keys = np.array(sorted(steps), dtype=np.int64)
    states = np.array([steps[key] for key in keys.tolist()], dtype=np.int64)
    return keys, states, np.array(named, dtype=np.int64), vocabulary


def _without_overlaps(starts: Numbers, lengths: Numbers) -> Numbers:
    kept: list[int] = []
    free = 0
    for start, length in zip(starts.tolist(), lengths[starts].tolist(), strict=True):
        if start >= free:
            kept.append(start)
            free = start + length
    return np.array(kept, dtype=np.int64)
