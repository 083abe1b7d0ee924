r"""Words and phrases as data: rules that anyone can write, found in time linear in the text.

A phrase is a few words in a row, whatever their case, spacing and punctuation. Four signs refine it: a `*` at the end
allows any ending (`optim*`), `...` stands for one to four words (`does ... support`), a `^` in front means at the
start of the text, a `$` behind means at its end. Chinese, Japanese and Korean phrases are found anywhere, as those
scripts have no spaces to go by.
"""

import re
from functools import lru_cache
from typing import Annotated, NamedTuple

from pydantic import AfterValidator

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_WORD = re.compile(r"\w+")
_WORD_BESIDE_CJK = re.compile(rf"[^\W{_CJK}]+")
_ASCII_BETWEEN_WORDS = {code: " " for code in range(128) if not re.match(r"\w", chr(code))}
_MARKS = " \t\r\n.,:;!?~…'\"()。，、：；！？～「」『』（）"


class Words:
    """A text, read once, of which one can ask whether it says a phrase.

    `count` is the number of words; `has_cjk` tells whether any character is Chinese, Japanese or Korean.

    >>> words = Words("How do I fix the Down-load?  错误很多")
    >>> words.say("^how do i"), words.say("down load"), words.say("down"), words.say("loa*"), words.say("错误")
    (True, True, True, True, True)
    >>> Words("download").say("down"), Words("download").say("down*"), Words("well, ok").say("^ok$")
    (False, True, False)
    >>> Words("Does the new API support it?").say("does ... support")
    True
    """

    def __init__(self, text: str) -> None:
        self.has_cjk = not text.isascii() and _CJK_CHARACTER.search(text) is not None
        self._folded = text.casefold().strip(_MARKS)
        found = self._split()
        self._vocabulary = frozenset(found)
        self._joined = f" {' '.join(found)} "
        self.count = len(found)
        if self.has_cjk:
            # what is part of a word and not of those found is CJK, whose words have about two characters
            cjk = sum(map(len, _WORD.findall(self._folded))) - sum(map(len, found))
            self.count += (cjk + 1) // 2

    def say(self, phrase: str) -> bool:
        """Whether the text says this phrase."""
        sought = _parsed(phrase)
        if not self._vocabulary.issuperset(sought.words):
            return False
        text = self._folded if sought.cjk else self._joined
        if isinstance(sought.needle, re.Pattern):
            return sought.needle.search(text) is not None
        if sought.at_start and sought.at_end:
            return text == sought.needle
        if sought.at_start:
            return text.startswith(sought.needle)
        return text.endswith(sought.needle) if sought.at_end else sought.needle in text

    def first_said(self, phrases: tuple[str, ...]) -> str | None:
        """The first of these phrases that the text says.

        >>> Words("it crashed again").first_said(("error", "crash*"))
        'crash*'
        """
        return next((phrase for phrase in phrases if self.say(phrase)), None)

    def _split(self) -> list[str]:
        if self._folded.isascii():  # much faster than the regular expression, with the same outcome
            return self._folded.translate(_ASCII_BETWEEN_WORDS).split()
        return (_WORD_BESIDE_CJK if self.has_cjk else _WORD).findall(self._folded)


class _Sought(NamedTuple):
    needle: str | re.Pattern[str]
    words: tuple[str, ...]  # whole words without which the phrase cannot be there
    at_start: bool
    at_end: bool
    cjk: bool


@lru_cache(maxsize=8192)
def _parsed(phrase: str) -> _Sought:
    at_start, at_end, any_ending = phrase.startswith("^"), phrase.endswith("$"), phrase.endswith("*")
    core = phrase.removeprefix("^").removesuffix("$").removesuffix("*").casefold().strip()
    if _CJK_CHARACTER.search(core):
        return _Sought(core, (), at_start, at_end, cjk=True)
    parts = [_WORD.findall(part) for part in core.split("...")]
    words = [word for part in parts for word in part]
    end = "" if any_ending else " "
    whole = tuple(words[:-1] if any_ending else words)
    if len(parts) == 1:
        return _Sought(f" {' '.join(words)}{end}", whole, at_start, at_end, cjk=False)
    # every word is followed by exactly one space, so what a gap may take is never in doubt and time stays linear
    gap = r"(?:\S++ ){1,4}"
    pattern = " " + f" {gap}".join(re.escape(" ".join(part)) for part in parts) + end
    anchored = (r"\A" if at_start else "") + pattern + (r"\Z" if at_end else "")
    return _Sought(re.compile(anchored), whole, at_start, at_end, cjk=False)


def _check(phrase: str) -> str:
    if not _WORD.search(phrase):
        raise ValueError("a phrase needs at least one letter or digit")
    return phrase


Phrase = Annotated[str, AfterValidator(_check)]
"""A phrase in a rule; one without any word is refused."""
