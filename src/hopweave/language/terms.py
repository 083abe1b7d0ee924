"""Stems, and terms in which texts in any language are compared, without an analyzer of one language.

M. F. Porter (1980): An algorithm for suffix stripping; (2001): Snowball, a language for stemming algorithms.
"""

import re
import unicodedata
from collections.abc import Callable
from collections.abc import Set as AbstractSet

from hopweave.concurrency.once import WORDS_KEPT, once, string_cache
from hopweave.language.stop_words import STOP_WORDS
from hopweave.language.words import UNSPACED


@once()
def stemmer(language: str) -> Callable[[str], str]:
    """The Snowball stemmer of a language, which keeps the stems of the latest words.

    >>> stemmer("english")("crashes")
    'crash'
    """
    import Stemmer

    return string_cache(WORDS_KEPT)(Stemmer.Stemmer(language, 0).stemWord)


_SPACED = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256))
"""Bytes of UTF-8 with a space in place of ASCII signs, which splits most texts several times as fast as a pattern."""
_WORD_OR_RUN = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+")
_IS_UNSPACED = re.compile(f"[{UNSPACED}]")


def content_terms(text: str, stop_words: AbstractSet[str] = STOP_WORDS) -> frozenset[str]:
    """The stems of the words of a text without stop words; pairs of characters where words are not spaced.

    >>> sorted(content_terms("Where were the ferries built?")), sorted(content_terms("東京都"))
    (['built', 'ferri'], ['京都', '東京'])
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = set(folded.encode("utf-8", "surrogatepass").translate(_SPACED).decode("utf-8", "surrogatepass").split())
    found: set[str] = set()
    if not folded.isascii():
        other = {word for word in words if not word.isascii()}
        words -= other
        for part in {part for word in other for part in _WORD_OR_RUN.findall(word)}:
            if _IS_UNSPACED.match(part):
                found.update(part[start : start + 2] for start in range(max(len(part) - 1, 1)))
            else:
                words.add(part)
    return frozenset(found.union(map(stemmer("english"), words - stop_words)))
