"""The names of a graph's nodes, ready to be found in a question."""

import heapq
import math
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np

from hopweave.graph.csr import Graph
from hopweave.graph.stop_words import STOP_WORDS
from hopweave.graph.words import word_key

_MAX_CANDIDATES = 2000  # names compared for one stretch of the question
_MAX_BUCKET = 4000  # words compared with one misspelt word


class NameIndex:
    """Finds nodes by their names, letter by letter or nearly so.

    >>> from hopweave.graph.model import Node
    >>> names = NameIndex.of(Graph.build([Node.entity("MV Skua"), Node.entity("Port of Harris")], []))
    >>> names.exact("mv skua"), names.nearest(["port", "harriss"])[0]
    ((0,), 'port of harris')
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._nodes: dict[str, int] = {}
        self._namesakes: defaultdict[str, list[int]] = defaultdict(list)  # few, so most names need no list of their own
        for number, key in enumerate(map(word_key, names)):
            if self._nodes.setdefault(key, number) != number:
                self._namesakes[key].append(number)
        self.longest: dict[str, int] = {}
        for key in self._nodes:
            first, count = key.partition(" ")[0], key.count(" ") + 1
            if self.longest.get(first, 0) < count:
                self.longest[first] = count

    @classmethod
    def of(cls, graph: Graph) -> "NameIndex":
        """The index of a graph's names, made once per graph."""
        return graph.cached("name_index", lambda: cls(node.name for node in graph.nodes(np.arange(graph.size))))

    def exact(self, key: str) -> tuple[int, ...]:
        """The nodes whose name has this word key."""
        return (self._nodes[key], *self._namesakes.get(key, ())) if key in self._nodes else ()

    def nearest(self, parts: Sequence[str], *, threshold: float = 0.75) -> tuple[str, float] | None:
        """The key that shares most with these folded words, and how similar it is in [0, 1]; None below `threshold`.

        The similarity is Dice's coefficient over words, each counting by its rarity; stop words do not count. A
        word that no name has stands for the names' words one or two letters away from it.
        """
        wanted = [part for part in dict.fromkeys(parts) if part not in STOP_WORDS]
        meant = {word: {word: 1.0} for word in wanted if word in self._postings}
        best = self._best(wanted, meant)
        if (best is None or best[1] < threshold) and len(meant) < len(wanted):
            meant |= {word: self._near_words(word) for word in wanted if word not in meant}
            best = self._best(wanted, meant)
        return best if best is not None and best[1] >= threshold else None

    def _best(self, wanted: Sequence[str], meant: dict[str, dict[str, float]]) -> tuple[str, float] | None:
        found = sorted(
            {word for near in meant.values() for word in near}, key=lambda word: (len(self._postings[word]), word)
        )
        candidates: dict[int, None] = {}
        for word in found:
            if len(candidates) + len(self._postings[word]) > _MAX_CANDIDATES:
                break
            candidates.update(dict.fromkeys(self._postings[word]))
        asked = sum(max(map(self._rarity, meant.get(word, ())), default=self._rarest) for word in wanted)
        best: tuple[float, int, str] | None = None
        for candidate in candidates:
            key = self._keys[candidate]
            own = [word for word in dict.fromkeys(key.split(" ")) if word not in STOP_WORDS]
            shared = sum(
                max((self._rarity(word) * near.get(word, 0.0) for word in own), default=0.0) for near in meant.values()
            )
            score = 2 * shared / (asked + sum(map(self._rarity, own)))
            if best is None or (-score, len(key), key) < best:
                best = (-score, len(key), key)
        return (best[2], min(-best[0], 1.0)) if best else None

    @cached_property
    def _keys(self) -> list[str]:
        return list(self._nodes)

    @cached_property
    def _postings(self) -> dict[str, list[int]]:
        found: defaultdict[str, list[int]] = defaultdict(list)
        for number, key in enumerate(self._keys):
            for word in dict.fromkeys(key.split(" ")):
                if word not in STOP_WORDS:
                    found[word].append(number)
        return dict(found)

    @cached_property
    def _buckets(self) -> dict[tuple[str, int], list[tuple[str, str]]]:
        """Words with their form without accents, by first letter and length of that form."""
        found: defaultdict[tuple[str, int], list[tuple[str, str]]] = defaultdict(list)
        for word in sorted(self._postings):
            plain = without_accents(word)
            found[plain[:1], len(plain)].append((plain, word))
        return dict(found)

    @cached_property
    def _rarest(self) -> float:
        return math.log(1 + len(self._keys))

    def _rarity(self, word: str) -> float:
        return math.log(1 + len(self._keys) / len(self._postings[word]))

    def _near_words(self, word: str) -> dict[str, float]:
        plain = without_accents(word)
        allowed = 0 if len(plain) < 4 else 1 if len(plain) < 8 else 2
        letters = set(plain)
        near: dict[str, float] = {}
        for length in range(len(plain) - allowed, len(plain) + allowed + 1):
            for other, spelled in self._buckets.get((plain[:1], length), ())[:_MAX_BUCKET]:
                if len(letters.difference(other)) <= allowed:
                    distance = edit_distance(plain, other, allowed)
                    if distance is not None:
                        near[spelled] = 1 - distance / len(plain)
        return dict(heapq.nsmallest(8, near.items(), key=lambda pair: (-pair[1], pair[0])))


def without_accents(word: str) -> str:
    """Latin letters without their accents; other scripts, where marks make the letter, stay as they are.

    >>> without_accents("aschenbrödel"), without_accents("हिन्दी"), without_accents("łódź")
    ('aschenbrodel', 'हिन्दी', 'łodz')
    """
    if word.isascii():
        return word
    parts: list[str] = []
    for character in unicodedata.normalize("NFD", word):
        if not (unicodedata.combining(character) and parts and parts[-1].isascii()):
            parts.append(character)
    return unicodedata.normalize("NFC", "".join(parts))


def edit_distance(one: str, other: str, limit: int) -> int | None:
    """How many letters to add, drop, change or swap with their neighbour; None if more than `limit`.

    >>> edit_distance("harris", "haris", 1), edit_distance("skua", "suka", 1), edit_distance("skua", "gull", 2)
    (1, 1, None)
    """
    if one == other:
        return 0
    if abs(len(one) - len(other)) > limit or limit <= 0:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, wanted in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
