"""The company that names keep: which words stand beside them, so which things are of the kind a question asks for."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from hopweave.graph.csr import Graph, slices
from hopweave.graph.phrases import Flags, Numbers, Occurrences, WordTable
from hopweave.graph.port import Floats
from hopweave.graph.stop_words import STOP_WORDS
from hopweave.graph.words import BREAK

REACH = 3
"""How many words away from a name, on either side and in the same sentence, a word keeps it company."""

_SHORTEST_STEM = 4  # letters that words of one family begin with, at least
_LONGEST_ENDING = 3  # letters they may end with beyond that
_SHARED = 0.6  # of the longer word's letters


@dataclass(frozen=True, slots=True)
class Beside:
    """Which words stand beside which things: one row per thing, document and word."""

    things: Numbers
    documents: Numbers
    words: Numbers

    @classmethod
    def find(cls, table: WordTable, places: Occurrences) -> "Beside":
        """The words near places where things are named; stop words do not count.

        >>> from hopweave.graph.phrases import find_names
        >>> table = WordTable.of(["the ferry Skua left . Gulls came"])
        >>> beside = Beside.find(table, find_names(table, ["skua"]))
        >>> [list(table.codes)[word] for word in beside.words]
        ['ferry', 'left']
        """
        begins = np.concatenate([[0], table.ends])[places.texts]
        ends = table.ends[places.texts]
        stands = np.array([word != BREAK for word in table.codes], dtype=bool)
        found = []
        for position, step in ((places.positions - 1, -1), (places.positions + places.lengths, 1)):
            rows, at = np.arange(len(position)), position
            for _ in range(REACH):
                inside = (at >= begins[rows]) & (at < ends[rows])
                rows, at = rows[inside], at[inside]
                same_sentence = stands[table.words[at]]
                rows, at = rows[same_sentence], at[same_sentence]
                found.append((rows, table.words[at]))
                at = at + step
        rows, words = (np.concatenate(columns) for columns in zip(*found, strict=True))
        telling: Flags = np.array([word not in STOP_WORDS for word in table.codes], dtype=bool)
        rows, words = rows[telling[words]], words[telling[words]]
        return cls(*_distinct(places.names[rows], places.texts[rows], words))


class Company:
    """Which words stand beside the names of nodes, and how much of that is kin to given words.

    >>> offsets, nodes = np.array([0, 1, 2]), np.array([5, 6])
    >>> company = Company(["directed", "river"], np.array([2.0, 1.0]), offsets, nodes, np.ones(2))
    >>> nodes, closeness = company.closeness(["director", "river"])
    >>> dict(zip(nodes.tolist(), closeness.round(3).tolist(), strict=True))
    {5: 0.667, 6: 0.333}
    """

    def __init__(self, words: Sequence[str], rarity: Floats, offsets: Numbers, nodes: Numbers, shares: Floats) -> None:
        """Words in order, how rare each is, and the nodes it stands beside: at `offsets[i]` to `offsets[i + 1]`."""
        self._words = words
        self._rarity = rarity
        self._offsets = offsets
        self._nodes = nodes
        self._shares = shares
        self._span = int(nodes.max(initial=0)) + 1

    @classmethod
    def nobodys(cls) -> "Company":
        """Of a graph that was not made from texts."""
        return cls([], np.empty(0), np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def of(cls, graph: Graph) -> "Company":
        """The company kept in a graph."""
        return graph.cached("company", cls.nobodys)

    @classmethod
    def build(cls, beside: Beside, passages: Numbers, words: Sequence[str], texts: int) -> "Company":
        """From words (by number) beside things (by number), of which thing i is found in `passages[i]` passages.

        share = passages where the word stands beside the name / (1 + passages with the name);
        rarity = log(1 + (N - n + 0.5) / (n + 0.5)), where the word stands beside any name in n of N passages.
        """
        numbers, inverse = np.unique(beside.words, return_inverse=True)
        spelled = [words[number] for number in numbers.tolist()]
        order = sorted(range(len(spelled)), key=spelled.__getitem__)
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        at = place[inverse]
        frequency = np.bincount(_distinct(at, beside.documents)[0], minlength=len(order))
        pairs, counts = _counted(at, beside.things)
        return cls(
            [spelled[number] for number in order],
            np.log(1 + (texts - frequency + 0.5) / (frequency + 0.5)),
            np.concatenate([[0], np.cumsum(np.bincount(pairs[0], minlength=len(order)))]),
            pairs[1],
            counts / (1 + passages[pairs[1]]),
        )

    def renumbered(self, nodes: Numbers) -> "Company":
        """The same with node `nodes[i]` in place of node i."""
        return Company(self._words, self._rarity, self._offsets, nodes[self._nodes], self._shares)

    def closeness(self, words: Iterable[str]) -> tuple[Numbers, Floats]:
        """The nodes that keep such company, each once, and how much, in [0, 1]; words must be folded.

        closeness = Σ rarity(word) · min(1, Σ shares of its family beside the node) / Σ rarity(word), over the words
        that have any family here.
        """
        telling = (word for word in dict.fromkeys(words) if word not in STOP_WORDS)
        families = [family for word in telling if (family := self._family(word))]
        if not families:
            return np.empty(0, np.int64), np.empty(0)
        weights = np.array([self._rarity[family].max() for family in families])
        offsets, positions = slices(self._offsets, np.concatenate(families))
        members = np.repeat(np.arange(len(families)), [len(family) for family in families])
        pairs, shares = _summed(
            np.repeat(members, np.diff(offsets)) * self._span + self._nodes[positions], self._shares[positions]
        )
        parts = np.minimum(shares, 1.0) * (weights / weights.sum())[pairs // self._span]
        return _summed(pairs % self._span, parts)

    def _family(self, word: str) -> list[int]:
        """The numbers of the words that are kin to a word."""
        stem = word[:_SHORTEST_STEM]
        if len(stem) < _SHORTEST_STEM:
            place = bisect_left(self._words, word)
            return [place] if place < len(self._words) and self._words[place] == word else []
        first = bisect_left(self._words, stem)
        near = takewhile(lambda place: self._words[place].startswith(stem), range(first, len(self._words)))
        return [place for place in near if kin(word, self._words[place])]


def kin(one: str, other: str) -> bool:
    """Whether two words are likely forms of one: they begin alike and differ by short endings only.

    >>> kin("director", "directed"), kin("countries", "country"), kin("state", "station"), kin("sea", "seas")
    (True, True, False, False)
    """
    longer = max(len(one), len(other))
    needed = max(_SHORTEST_STEM, longer - _LONGEST_ENDING, math.ceil(_SHARED * longer))
    return one[:needed] == other[:needed]


def _summed(nodes: Numbers, values: Floats) -> tuple[Numbers, Floats]:
    """Each node once, in order, with the sum of its values."""
    distinct, inverse = np.unique(nodes, return_inverse=True)
    return distinct, np.bincount(inverse, values, len(distinct)).astype(np.float64, copy=False)


def _counted(*columns: Numbers) -> tuple[tuple[Numbers, ...], Numbers]:
    """The rows of these columns, each once, in order, and how often each was there."""
    order = np.lexsort(columns[::-1])
    new = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    first = np.flatnonzero(new)
    return tuple(column[order[first]] for column in columns), np.diff(np.append(first, len(order)))


def _distinct(*columns: Numbers) -> tuple[Numbers, ...]:
    return _counted(*columns)[0]
