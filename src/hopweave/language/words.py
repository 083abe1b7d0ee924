"""Words and names as the graph compares them: normalised, in any script."""

import re
import unicodedata
from typing import Literal

from hopweave.concurrency.once import once, string_cache
from hopweave.language.stop_words import STOP_WORDS

SOUTH_EAST_ASIAN = "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
KANA = "\u3040-\u30fa\u30fc-\u30ff"
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
HANGUL = "\uac00-\ud7a3"
CJK = KANA + HAN + HANGUL + "\u3005-\u3007\u31f0-\u31ff\U00020000-\U0003fffd"  # and signs such as 々, rare characters
UNSPACED = SOUTH_EAST_ASIAN + CJK
"""Scripts that put no space between words, or join small words to names: each character counts as a word."""


BREAK = "."
"""Stands between sentences in the word string of a text."""

_SHORT = 3  # a capitalised word of so few letters before a full stop is an abbreviation: "St. Louis"


NAMES_KEPT = 500_000  # size of the caches: a graph that is loaded again has nearly the same names


@string_cache(NAMES_KEPT)
def normalise_name(name: str) -> str:
    """A name in the form in which names are compared: NFKC, casefolded, with single spaces. Nothing is dropped.

    >>> normalise_name("  Łódź  Fabryczna"), normalise_name("ＮＡＳＡ"), normalise_name("北京")
    ('łódź fabryczna', 'nasa', '北京')
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


@once()
def character_class(kind: Literal["upper", "mark"]) -> str:
    """A character class for `re`, without brackets: `re` supports neither upper case nor combining marks.

    >>> re.match(f"[{character_class('upper')}]", "Łódź") is not None
    True
    """
    wanted = {"upper": ("Lu", "Lt"), "mark": ("Mn", "Mc", "Me")}[kind]
    ranges: list[list[int]] = []
    for code in range(0x10000):  # a class with characters beyond takes ten times as long
        character = chr(code)
        if unicodedata.category(character) in wanted:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)


@once()
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


def has_unspaced(text: str) -> bool:
    """Return whether a text contains a script without spaces between words.

    >>> has_unspaced("MV Skua"), has_unspaced("MV Skuaの船長")
    (False, True)
    """
    return not text.isascii() and _unspaced().search(text) is not None


@once()
def _pattern(unspaced: bool, breaks: bool) -> re.Pattern[str]:
    """The pattern of a word: letters, digits and their marks; `+` and `#` as in C++ and C#."""
    marks = character_class("mark")
    # for text without unspaced scripts, the simple pattern gives the same result faster
    letter = rf"[^\W_{UNSPACED}]" if unspaced else r"[^\W_]"
    word = rf"{letter}+(?:[{marks}]+{letter}*)*(?:\+\+|(?<=\b[A-Za-z])#)?" + (
        rf"|[{UNSPACED}][{marks}]*" if unspaced else ""
    )
    return re.compile(rf"{word}|[.!?…](?=\s|$)|[。！？]|\n\s*(?=[\n#*|>-])" if breaks else word)


def _find(text: str, *, breaks: bool = False) -> list[str]:
    return _pattern(has_unspaced(text), breaks).findall(text)


def words(text: str) -> list[str]:
    """The words of a text as they are written, after NFKC.

    >>> words("Łódź-Fabryczna, God'S gift"), words("東京 in C++")
    (['Łódź', 'Fabryczna', 'God', 'S', 'gift'], ['東', '京', 'in', 'C++'])
    """
    return _find(unicodedata.normalize("NFKC", text))


def spans(text: str) -> list[tuple[str, int, int]]:
    """The words of a text, which should be in NFKC, and where each begins and ends.

    >>> spans("MV Skua!")
    [('MV', 0, 2), ('Skua', 3, 7)]
    """
    pattern = _pattern(has_unspaced(text), breaks=False)
    return [(found.group(), *found.span()) for found in pattern.finditer(text)]


@string_cache(NAMES_KEPT)
def word_key(name: str) -> str:
    """A key that is equal for spellings of the same name: the folded words, without a leading "the".

    Punctuation is ignored, unless the name has nothing else.

    >>> word_key("St. Louis"), word_key("The Beatles"), word_key("The Who"), word_key("!!!")
    ('st louis', 'beatles', 'the who', '!!!')
    """
    folded = normalise_name(name)
    found = _find(folded)
    if len(found) > 1 and found[0] == "the" and not STOP_WORDS.issuperset(found[1:]):
        found = found[1:]
    return " ".join(found) or folded


def word_string(text: str) -> str:
    """A text as words with one space between them, and `BREAK` between sentences.

    >>> word_string("She sailed from St. Louis. Then, home!")
    'She sailed from St Louis . Then home .'
    """
    kept: list[str] = []
    previous = BREAK
    for found in _find(unicodedata.normalize("NFKC", text), breaks=True):
        if found[0] in ".!?…。！？\n":
            if previous == BREAK or (found == "." and len(previous) <= _SHORT and previous[0].isupper()):
                continue
            previous = BREAK
        else:
            previous = found
        kept.append(previous)
    return " ".join(kept)
