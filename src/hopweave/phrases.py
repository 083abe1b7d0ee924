r"""Words and phrases as data: rules that anyone can write, found in time linear in the text.

A phrase is a few words in a row, whatever their case, spacing and punctuation. Three signs refine it: a `*` at the
end allows any ending (`optim*`), a `^` in front means at the start of the text, a `$` behind means at its end.
Chinese, Japanese and Korean phrases are found anywhere, as those scripts have no spaces to go by.
"""

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f"
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = re.compile(r"\w+")
_WORD_BESIDE_CJK = re.compile(rf"[^\W{_CJK}]+")
_MARKS = " \t\r\n.,:;!?~…'\"()。，、：；！？～「」『』（）"


class Words:
    """A text, read once, of which one can ask whether it says a phrase.

    `count` is the number of words; `has_cjk` tells whether any character is Chinese, Japanese or Korean.

    >>> words = Words("How do I fix the Down-load?  错误很多")
    >>> words.say("^how do i"), words.say("down load"), words.say("down"), words.say("loa*"), words.say("错误")
    (True, True, True, True, True)
    >>> Words("download").say("down"), Words("download").say("down*"), Words("well, ok").say("^ok$")
    (False, True, False)
    """

    def __init__(self, text: str) -> None:
        self._folded = text.casefold().strip(_MARKS)
        self.has_cjk = not text.isascii() and _CJK_CHARACTER.search(text) is not None
        found = (_WORD_BESIDE_CJK if self.has_cjk else _WORD).findall(self._folded)
        self._vocabulary = frozenset(found)
        self._joined = f" {' '.join(found)} "
        self.count = len(found)
        if self.has_cjk:
            # a Chinese or Japanese word has about two characters
            self.count += (sum(map(len, _CJK_RUN.findall(self._folded))) + 1) // 2

    def say(self, phrase: str) -> bool:
        """Whether the text says this phrase."""
        needle, words, at_start, at_end, cjk = _parsed(phrase)
        if not self._vocabulary.issuperset(words):
            return False
        text = self._folded if cjk else self._joined
        if at_start and at_end:
            return text == needle
        if at_start:
            return text.startswith(needle)
        return text.endswith(needle) if at_end else needle in text

    def first_said(self, phrases: tuple[str, ...]) -> str | None:
        """The first of these phrases that the text says.

        >>> Words("it crashed again").first_said(("error", "crash*"))
        'crash*'
        """
        return next((phrase for phrase in phrases if self.say(phrase)), None)


@lru_cache(maxsize=8192)
def _parsed(phrase: str) -> tuple[str, tuple[str, ...], bool, bool, bool]:
    """What to look for, which whole words must be there at all, the two anchors, and whether the phrase is CJK."""
    at_start, at_end, any_ending = phrase.startswith("^"), phrase.endswith("$"), phrase.endswith("*")
    core = phrase.removeprefix("^").removesuffix("$").removesuffix("*").casefold().strip()
    if _CJK_CHARACTER.search(core):
        return core, (), at_start, at_end, True
    words = tuple(_WORD.findall(core))
    if any_ending:
        return f" {' '.join(words)}", words[:-1], at_start, False, False
    return f" {' '.join(words)} ", words, at_start, at_end, False


def _check(phrase: str) -> str:
    if not _WORD.search(phrase):
        raise ValueError("a phrase needs at least one letter or digit")
    return phrase


Phrase = Annotated[str, AfterValidator(_check)]
"""A phrase in a rule; one without any word is refused."""
