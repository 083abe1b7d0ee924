"""The names of a graph's nodes, ready to be found in a question."""

import math
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice

import numpy as np

from hopweave.graph.port import Shown
from hopweave.language.stop_words import STOP_WORDS
from hopweave.storage.columns import Array
from hopweave.storage.strings import string_hash

_MAX_CANDIDATES = 2000  # names compared for one span of the question
_MAX_BUCKET = 4000  # words compared with one misspelt word
_MAX_NEAR = 8  # words that one misspelt word may stand for
_ROUNDING = 1e-9
_PRIME = 0x9E3779B97F4A7C15

ShownKeys = Callable[[Sequence[str]], Collection[str]]
"""Keys of names in, those that may be found out."""


def shown_keys(nodes_of: Callable[[Sequence[str]], Iterable[Sequence[int]]], shown: Shown) -> ShownKeys:
    """Of keys, those with a node that may be shown, all asked for at once."""

    def keys_shown(keys: Sequence[str]) -> list[str]:
        nodes = list(nodes_of(keys))
        every = sorted({node for group in nodes for node in group})
        flags = dict(zip(every, shown(np.array(every, np.int64)).tolist(), strict=True))
        return [key for key, group in zip(keys, nodes, strict=True) if any(flags[node] for node in group)]

    return keys_shown


class SimilarNames(ABC):
    """Finds the name most similar to some words, wherever the names are kept."""

    @abstractmethod
    def count(self) -> int:
        """How many names there are."""

    @abstractmethod
    def frequency(self, word: str) -> int:
        """How many names have this word; 0 for a stop word."""

    @abstractmethod
    def keys_with(self, word: str) -> Iterable[str]:
        """The word keys of the names that have this word."""

    @abstractmethod
    def words_like(self, letter: str, length: int) -> Iterable[tuple[str, str]]:
        """Words of names without accents and as they are, by their first letter and length without accents."""

    def nearest(
        self, parts: Sequence[str], *, threshold: float = 0.75, shown: ShownKeys | None = None
    ) -> tuple[str, float] | None:
        """The key that shares most with these folded words, and how similar it is in [0, 1]; None below `threshold`.

        The similarity is Dice's coefficient over words, each counting by its rarity; stop words do not count. A
        word that no name has stands for the names' words one or two letters away from it. With `shown`, only names
        that it lets through count.
        """
        wanted = [part for part in dict.fromkeys(parts) if part not in STOP_WORDS]
        meant = {word: {word: 1.0} for word in wanted if self.frequency(word) and self._is_shown(word, shown)}
        best = self._best(wanted, meant, threshold, shown)
        if best is None and len(meant) < len(wanted):
            meant |= {word: self._near_words(word, shown) for word in wanted if word not in meant}
            best = self._best(wanted, meant, threshold, shown)
        return best

    def _is_shown(self, word: str, shown: ShownKeys | None) -> bool:
        """Whether a name with this word may be found."""
        return shown is None or bool(shown(list(islice(self.keys_with(word), _MAX_CANDIDATES))))

    def _best(
        self, wanted: Sequence[str], meant: dict[str, dict[str, float]], threshold: float, shown: ShownKeys | None
    ) -> tuple[str, float] | None:
        rarity = _Rarity(self)
        values = {asked: {word: rarity[word] * share for word, share in near.items()} for asked, near in meant.items()}
        rarest = math.log(1 + self.count())
        asked = sum(max(map(rarity.__getitem__, meant.get(word, ())), default=rarest) for word in wanted)
        best: tuple[float, int, str] | None = None
        candidates = self._candidates(values.values(), asked * threshold / (2 - threshold))
        for key in candidates if shown is None else shown(list(candidates)):
            own = {word for word in key.split(" ") if word not in STOP_WORDS}
            shared = math.fsum(
                max((near[word] for word in near if word in own), default=0.0) for near in values.values()
            )
            score = 2 * shared / (asked + math.fsum(rarity[word] for word in own))
            if score >= threshold and (best is None or (-score, len(key), key) < best):
                best = (-score, len(key), key)
        return (best[2], min(-best[0], 1.0)) if best else None

    def _candidates(self, values: Iterable[dict[str, float]], needed: float) -> dict[str, None]:
        """The keys that may share words worth `needed`: those with one of the rarest words asked for.

        A name that has none of them shares less than `needed`, since the words left over are not worth as much
        (prefix filtering; S. Chaudhuri et al. (2006): A Primitive Operator for Similarity Joins in Data Cleaning).
        """
        candidates: dict[str, None] = {}
        worth = [(max(near.values(), default=0.0), near) for near in values]
        left = sum(most for most, _ in worth)
        for most, near in sorted(worth, key=lambda pair: (-pair[0], sorted(pair[1]))):
            if left < needed - _ROUNDING:
                break
            left -= most
            for word in sorted(near, key=lambda word: (self.frequency(word), word)):
                if len(candidates) + self.frequency(word) <= _MAX_CANDIDATES:
                    candidates.update(dict.fromkeys(self.keys_with(word)))
        return candidates

    def _near_words(self, word: str, shown: ShownKeys | None) -> dict[str, float]:
        closest = (pair for pair in self._closest_words(word) if self._is_shown(pair[0], shown))
        return dict(islice(closest, _MAX_NEAR))

    def _closest_words(self, word: str) -> list[tuple[str, float]]:
        """The words of names that are a few letters away from a word, closest first, and how similar they are."""
        plain = without_accents(word)
        allowed = letters_apart(plain)
        letters = set(plain)
        near: dict[str, float] = {}
        for length in range(len(plain) - allowed, len(plain) + allowed + 1):
            for other, spelled in islice(self.words_like(plain[:1], length), _MAX_BUCKET):
                if len(letters.difference(other)) <= allowed:
                    distance = edit_distance(plain, other, allowed)
                    if distance is not None:
                        near[spelled] = 1 - distance / len(plain)
        return sorted(near.items(), key=lambda pair: (-pair[1], pair[0]))


class _Rarity(dict[str, float]):
    """How rare words of names are, each worked out once: log(1 + names / names with the word)."""

    def __init__(self, names: SimilarNames) -> None:
        super().__init__()
        self._names, self._count = names, names.count()

    def __missing__(self, word: str) -> float:
        # on a server, the last name with a word may go between two statements
        self[word] = math.log(1 + self._count / max(self._names.frequency(word), 1))
        return self[word]


def phrase_hash(key: str) -> int:
    """A hash of words with one space between them, which can also be computed for many phrases of a text at once.

    >>> phrase_hash("mv skua") == (phrase_hash("mv") * _PRIME + string_hash("skua")) % 2**64
    True
    """
    total = 0
    for word in key.split(" "):
        total = longer_phrase(total, word)
    return total


def longer_phrase(phrase: int, word: str) -> int:
    """The hash of a phrase that is one word longer than the phrase of a hash."""
    return (phrase * _PRIME + string_hash(word)) & 0xFFFFFFFFFFFFFFFF


def longer_phrases(hashes: Array, next_words: Array) -> Array:
    """The hashes of phrases that are one word longer, from those of the phrases and of the words."""
    return hashes * np.uint64(_PRIME) + next_words


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


def letters_apart(word: str) -> int:
    """How many letters a word may differ from one that it stands for."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def bucket_hash(letter: str, length: int) -> int:
    """A hash for the words that begin with a letter and have this length, among which misspellings are looked for.

    >>> bucket_hash("h", 6) == bucket_hash("h", 6), bucket_hash("h", 6) == bucket_hash("h", 5)
    (True, False)
    """
    return string_hash(f"{letter}{length}")


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
