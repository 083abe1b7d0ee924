"""What each document says, read into numbers once, so that a change to one leaves the others as they are."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Contribution, Mention, Node
from hopweave.graph.phrases import Numbers, Vocabulary
from hopweave.graph.words import word_key

ABOUT, SURE, UNSURE = 2, 1, 0
"""How sure a document is of a thing it names."""


class Things:
    """The things that documents name, by number; spellings with the same word key are one thing of its kind.

    >>> things = Things()
    >>> things.of("entity", "St. Louis") == things.of("entity", "St Louis")
    True
    >>> things.of("entity", "北京") == things.of("entity", "東京")
    False
    """

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.keys: list[str] = []
        self.spellings: list[str] = []
        self.spelling_of: list[int] = []
        self._things: dict[tuple[str, str], int] = {}
        self._spellings: dict[tuple[str, str], int] = {}

    def spelling(self, kind: str, name: str) -> int:
        """The number of a spelling."""
        number = self._spellings.get((kind, name))
        if number is None:
            key = word_key(name)
            thing = self._things.setdefault((kind, key), len(self.keys))
            if thing == len(self.keys):
                self.kinds.append(kind)
                self.keys.append(key)
            number = self._spellings[kind, name] = len(self.spellings)
            self.spellings.append(name)
            self.spelling_of.append(thing)
        return number

    def of(self, kind: str, name: str) -> int:
        """The number of the thing that a spelling stands for."""
        return self.spelling_of[self.spelling(kind, name)]


@dataclass(frozen=True, slots=True)
class Reading:
    """One contribution in numbers: for each mention its spelling, type and surety, and its weight; and the words."""

    contribution: Contribution
    mentions: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float64]
    words: Numbers


class Readings:
    """Readings of contributions. The same contribution, as the same object, is read once.

    Numbers are given in the order in which things are first seen, so nothing that is made of them may depend on
    which is larger.

    >>> readings, said = Readings(), Contribution("d", mentions=(Mention("Skua"),), words="aboard Skua")
    >>> readings.of([said])[0] is readings.of([said])[0]
    True
    """

    def __init__(self) -> None:
        self.things = Things()
        self.vocabulary = Vocabulary()
        self.types: dict[str, int] = {}
        self._kept: dict[int, Reading] = {}
        self._nodes: dict[tuple[str, str], Node] = {}

    def of(self, contributions: Iterable[Contribution]) -> list[Reading]:
        """The readings of these contributions; all others are forgotten."""
        found = [self._kept.get(id(one)) or self._read(one) for one in contributions]
        self._kept = {id(one.contribution): one for one in found}
        return found

    def node(self, kind: str, name: str) -> Node:
        """The node of a name."""
        node = self._nodes.get((kind, name))
        if node is None:
            node = self._nodes[kind, name] = Node.entity(name, kind)
        return node

    def _read(self, contribution: Contribution) -> Reading:
        mentions = [
            (self.things.spelling(one.kind, one.name), self.types.setdefault(one.type, len(self.types)), _surety(one))
            for one in contribution.mentions
        ]
        return Reading(
            contribution,
            np.array(mentions, np.int32).reshape(-1, 3),
            np.array([one.weight for one in contribution.mentions], np.float64),
            self.vocabulary.read(contribution.words),
        )


def _surety(mention: Mention) -> int:
    return ABOUT if mention.is_about else SURE if mention.sure else UNSURE
