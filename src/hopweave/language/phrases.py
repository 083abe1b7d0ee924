r"""Phrase matching for rules, in time linear in the length of the text.

A phrase is a sequence of words; case, spacing and punctuation are ignored. Four signs refine it: a `*` at the end
allows any ending (`optim*`), `...` stands for one to four words (`does ... support`), a leading `^` anchors the phrase
at the start of the text, a trailing `$` at its end. Chinese, Japanese and Korean phrases match anywhere, because these
scripts do not separate words by spaces.
"""

import re
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

from hopweave.concurrency.once import once
from hopweave.language.words import CJK

_CJK_CHARACTER = re.compile(f"[{CJK}]")
_WORD = re.compile(r"\w+")
_WORD_BESIDE_CJK = re.compile(rf"[^\W{CJK}]+")
_ASCII_BETWEEN_WORDS = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
_MARKS = " \t\r\n.,:;!?~…'\"()。，、：；！？～「」『』（）"


class PhraseMatcher:
    """A text that is split into words once and then searched for phrases.

    `word_count` is the number of words; `has_cjk` is True if any character is Chinese, Japanese or Korean.

    >>> text = PhraseMatcher("How do I fix the Down-load?  错误很多")
    >>> [text.contains(phrase) for phrase in ("^how do i", "down load", "down", "loa*", "错误")]
    [True, True, True, True, True]
    >>> PhraseMatcher("download").contains("down"), PhraseMatcher("download").contains("down*")
    (False, True)
    >>> PhraseMatcher("well, ok").contains("^ok$")
    False
    >>> PhraseMatcher("Does the new API support it?").contains("does ... support")
    True
    """

    def __init__(self, text: str) -> None:
        self.has_cjk = not text.isascii() and _CJK_CHARACTER.search(text) is not None
        self._folded = text.casefold().strip(_MARKS)
        found = self._split()
        self._vocabulary = frozenset(found)
        self._joined = f" {' '.join(found)} "
        self.word_count = len(found)
        if self.has_cjk:
            # the word characters that are in none of the words found are CJK, with about two characters per word
            cjk = sum(map(len, _WORD.findall(self._folded))) - sum(map(len, found))
            self.word_count += (cjk + 1) // 2

    def contains(self, phrase: str) -> bool:
        """Return whether the text contains this phrase."""
        parsed = _parsed(phrase)
        if not self._vocabulary.issuperset(parsed.words):
            return False
        text = self._folded if parsed.cjk else self._joined
        if isinstance(parsed.needle, re.Pattern):
            return parsed.needle.search(text) is not None
        if parsed.at_start and parsed.at_end:
            return text == parsed.needle
        if parsed.at_start:
            return text.startswith(parsed.needle)
        return text.endswith(parsed.needle) if parsed.at_end else parsed.needle in text

    def first_match(self, phrases: tuple[str, ...]) -> str | None:
        """The first of these phrases that the text contains, or None.

        >>> PhraseMatcher("it crashed again").first_match(("error", "crash*"))
        'crash*'
        """
        return next((phrase for phrase in phrases if self.contains(phrase)), None)

    def _split(self) -> list[str]:
        if self._folded.isascii():  # much faster than the regular expression, with the same outcome
            return self._folded.translate(_ASCII_BETWEEN_WORDS).split()
        return (_WORD_BESIDE_CJK if self.has_cjk else _WORD).findall(self._folded)


class _ParsedPhrase(NamedTuple):
    needle: str | re.Pattern[str]
    words: tuple[str, ...]  # whole words without which the phrase cannot be there
    at_start: bool
    at_end: bool
    cjk: bool


@once(max_entries=8192)
def _parsed(phrase: str) -> _ParsedPhrase:
    at_start, at_end, any_ending = phrase.startswith("^"), phrase.endswith("$"), phrase.endswith("*")
    core = phrase.removeprefix("^").removesuffix("$").removesuffix("*").casefold().strip()
    if _CJK_CHARACTER.search(core):
        return _ParsedPhrase(core, (), at_start, at_end, cjk=True)
    parts = [_WORD.findall(part) for part in core.split("...")]
    words = [word for part in parts for word in part]
    end = "" if any_ending else " "
    whole = tuple(words[:-1] if any_ending else words)
    if len(parts) == 1:
        return _ParsedPhrase(f" {' '.join(words)}{end}", whole, at_start, at_end, cjk=False)
    # every word is followed by exactly one space, so a gap matches in one way only and the time stays linear
    gap = r"(?:\S++ ){1,4}"
    pattern = " " + f" {gap}".join(re.escape(" ".join(part)) for part in parts) + end
    anchored = (r"\A" if at_start else "") + pattern + (r"\Z" if at_end else "")
    return _ParsedPhrase(re.compile(anchored), whole, at_start, at_end, cjk=False)


def _check(phrase: str) -> str:
    if not _WORD.search(phrase):
        raise ValueError("a phrase needs at least one letter or digit")
    return phrase


Phrase = Annotated[str, AfterValidator(_check)]
"""A phrase in a rule; it must have at least one word."""
