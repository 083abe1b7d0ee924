"""A question as its words and names, and the names that its words may be forms of."""

import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hopweave.graph.build.builders.capitalised import katakana, name_runs, names_something, quoted
from hopweave.language.stop_words import CALENDAR_WORDS, STOP_WORDS
from hopweave.language.words import has_unspaced, spans

_CHARACTERS_PER_WORD = 40
_MAX_FUZZY_WORDS = 8  # in a span that is compared with all names
_SMALL_WORD, _SMALL_WORDS, _NUMBER = 0.2, 0.5, 0.25


@dataclass(frozen=True, slots=True)
class Question:
    """The words of a question, where they stand, and the spans that are written like names."""

    text: str
    words: tuple[tuple[str, int, int], ...]
    folded: tuple[str, ...]
    names: tuple[tuple[int, int], ...]
    is_unspaced: bool = False

    def surface(self, first: int, last: int) -> str:
        """How the words `first` to `last`, exclusive, are written."""
        return self.text[self.words[first][1] : self.words[last - 1][2]]

    def may_name(self, first: int, last: int) -> bool:
        """Whether these words can be a name: not stop words only, unless written like one; no month, no letter.

        >>> asked = read_question("Which band is The Who, in May?", 100)
        >>> asked.may_name(0, 1), asked.may_name(3, 5), asked.may_name(6, 7)
        (False, True, False)
        """
        parts = self.folded[first:last]
        if STOP_WORDS.issuperset(parts):
            return len(parts) > 1 and first > 0 and all(self._has_capital(word) for word in range(first, last))
        return len(parts) > 1 or (len(parts[0]) > 1 and parts[0] not in CALENDAR_WORDS)

    def likelihood(self, first: int, last: int) -> float:
        """How likely these words are meant as a name: 1, or less for small letters where names have capitals.

        >>> asked = read_question("Which film did Skua open in 1974?", 100)
        >>> [asked.likelihood(word, word + 1) for word in (1, 3, 6)]
        [0.2, 1.0, 0.25]
        """
        parts = self.folded[first:last]
        if all(part.isdigit() for part in parts):
            return _NUMBER
        small = all(self.words[word][0][0].islower() for word in range(first, last))
        if not self.names or not small:
            return 1.0
        return _SMALL_WORD if self.content_words(first, last) < 2 else _SMALL_WORDS

    def content_words(self, first: int, last: int) -> int:
        """How many of these words are no stop words.

        >>> read_question("the Port of Harris", 100).content_words(0, 4)
        2
        """
        return sum(word not in STOP_WORDS for word in self.folded[first:last])

    def unlinked(self, taken: set[int]) -> list[tuple[int, int]]:
        """Spans that look like names, or else all runs of content words, none of whose words is taken.

        In a script without spaces, where every character is a word, such runs are not looked at: they do not end where
        names end.
        """
        found = []
        for first, last in self.names or ([] if self.is_unspaced else [(0, len(self.words))]):
            start = first
            for word in range(first, last + 1):
                ends = word == last or word in taken or (not self.names and self.folded[word] in STOP_WORDS)
                if ends or word - start == _MAX_FUZZY_WORDS:
                    if any(self._is_content_word(one) for one in range(start, word)):
                        found.append((start, word))
                    start = word + 1 if ends else word
        return found

    def coverage(self, covered: Sequence[float]) -> float:
        """The mean of what covers the words of names; without names, the best cover times the root of its share.

        A script without capitals does not show all its names: there, the larger of the two counts.
        """
        shown = self._covers(covered, self.names)
        mean = min(sum(shown) / len(shown), 1.0) if shown else 0.0
        if self.names and not self.is_unspaced:
            return mean
        every = self._covers(covered, [(0, len(self.words))])
        if not any(every):
            return 0.0
        share = sum(cover > 0 for cover in every) / len(every)
        return max(min(max(every) * math.sqrt(share), 1.0), mean)

    def _covers(self, covered: Sequence[float], spans: Sequence[tuple[int, int]]) -> list[float]:
        return [covered[word] for first, last in spans for word in range(first, last) if self._is_content_word(word)]

    def _is_content_word(self, word: int) -> bool:
        return self.folded[word] not in STOP_WORDS and not self.folded[word].isdigit()

    def _has_capital(self, word: int) -> bool:
        """Whether a word begins with a capital, or continues one that does behind an apostrophe, as in It'll."""
        _, start, _ = self.words[word]
        continues = word > 0 and self.text[start - 1] in "'’"
        return self.words[word - continues][0][0].isupper()


def read_question(question: str, max_words: int) -> Question:
    """The first words of a question, however long it is.

    >>> asked = read_question("Where did the MV Skua sail?", 100)
    >>> [asked.surface(*name) for name in asked.names]
    ['MV Skua']
    """
    text = unicodedata.normalize("NFKC", question[: max_words * _CHARACTERS_PER_WORD])
    words = tuple(spans(text)[:max_words])
    starts = [start for _, start, _ in words]
    ends = [end for _, _, end in words]
    names: list[tuple[int, int]] = []
    folded = tuple(word.casefold() for word, _, _ in words)
    places = [match.span() for match in name_runs(text)] + quoted(text) + katakana(text)
    for begin, end in sorted(places, key=lambda place: (place[0], -place[1])):
        first, last = bisect_left(starts, begin), bisect_right(ends, end)
        while first < last and folded[first] in STOP_WORDS and first == 0:
            first += 1
        if first == last or (names and first < names[-1][1]):
            continue
        if names and names[-1][1] == first and text[ends[first - 1] : starts[first]] in ("'", "’"):
            names[-1] = (names[-1][0], last)  # God'S Gift, as title-casing writes it
        elif names_something(" ".join(folded[first:last])):
            names.append((first, last))
    return Question(text, words, folded, tuple(names), has_unspaced(text))


class _Rule(NamedTuple):
    """An ending, how many letters stand before it at least, what names end in instead, and if it needs a capital."""

    ending: re.Pattern[str]
    min_letters: int
    instead: tuple[str, ...]
    needs_capital: bool


_RULES = tuple(
    _Rule(re.compile(rf"(?:{ending})$"), min_letters, tuple(instead.split(",")), needs_capital)
    for ending, min_letters, instead, needs_capital in (
        ("s", 4, "", True),  # genitive: Polens, Merkels
        ("ish", 3, ",en,land,and,ain,ey", False),  # Swedish, Finnish, English, British, Turkish
        ("ese", 4, ",a", False),  # Japanese, Chinese
        ("isch(?:e[mnrs]?)?", 3, ",en,land,and,ien,ei,n", False),  # japanisch, schwedische, russische, spanische
        ("ian", 3, ",a,e,ia,ium,y", True),  # Egyptian, Canadian, Ukrainian, Russian, Belgian, Italian
        ("an", 3, ",a,any,e,o", True),  # Chilean, American, German, Roman, Mexican
        ("ic|i", 4, "", True),  # Icelandic, Iraqi
        ("er", 6, "", True),  # Londoner, Berliner
    )
)

_LAST_LETTERS = ("s", "h", "e", "m", "n", "r", "c", "i")  # of all endings, as most words have another one


def base_forms(word: str) -> list[str]:
    """The names that a word may be formed from, casefolded; which of them exists is for a graph to say.

    Endings that many other words have (musician, sailors) need a capital.

    >>> "sweden" in base_forms("Swedish"), base_forms("Polens"), base_forms("sailors")
    (True, ['polen'], [])
    """
    found: dict[str, None] = {}
    folded, is_capital = word.casefold(), word[:1].isupper()
    if not folded.endswith(_LAST_LETTERS):
        return []
    for ending, min_letters, instead, needs_capital in _RULES:
        match = ending.search(folded)
        if match and match.start() >= min_letters and (is_capital or not needs_capital):
            stem = folded[: match.start()]
            single = stem[:-1] if stem[-1] == stem[-2] else stem  # Finnish, Scottish
            found |= dict.fromkeys(base + other for base in (stem, single) for other in instead)
    return list(found)
