"""Names in scripts without capitals or spaces: strings that a text repeats."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

from hopweave.language.words import HANGUL, UNSPACED, has_unspaced

_MIN_LENGTH, _MIN_THAI_LENGTH, _MAX_LENGTH = 3, 6, 20
_MAX_TEXT = 5000  # characters of a text that are looked at
_MAX_NAMES = 50

# What stands between names: Hiragana in Japanese, and in Chinese particles that are hardly ever part of a name.
_HIRAGANA = re.compile("[\u3041-\u309f]")
_CHINESE_PARTICLES = re.compile("[的了是在和与及或也都这那们我你他她它而且但就吗呢吧于由对从向将等为以并]")
_OTHER_SCRIPTS = re.compile(f"[^{UNSPACED}]+")
_HANGUL = re.compile(f"[{HANGUL}]")
_KOREAN_PARTICLE = re.compile("(?:에서|에게|으로|까지|부터|처럼|은|는|이|가|을|를|의|에|로|와|과|도|만)(?= |$)")
_THAI = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # and other scripts that write vowels around letters
_MARKS_AFTER, _VOWELS_BEFORE = re.compile(r"[\W\u0e30-\u0e33\u0e45]"), re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]$")


def repeated_names(text: str) -> list[str]:
    """The longest strings that a text has twice and that stand free on one side: at a mark or a particle.

    Three characters are the least, in Thai and similar scripts six. A Korean name must be followed by a particle.

    >>> repeated_names("北京大学位于海淀区。蔡元培领导北京大学。"), repeated_names("村上春樹は小説家、村上春樹の本")
    (['北京大学'], ['村上春樹'])
    >>> repeated_names("세종대왕은 한글을 만들었다. 세종대왕의 아버지"), repeated_names("Skua, Skua")
    (['세종대왕'], [])
    """
    if not has_unspaced(text):
        return []
    text = unicodedata.normalize("NFKC", text[:_MAX_TEXT])
    between = _HIRAGANA if _HIRAGANA.search(text) else _CHINESE_PARTICLES
    text = f" {_OTHER_SCRIPTS.sub(' ', between.sub(' ', text))} "
    found: dict[str, int] = {}
    for name in sorted(set(_repeats(text)), key=lambda name: (-len(name), name)):
        count = text.count(name)
        if count > 1 and _stands_free(name, text) and not _is_part(name, count, found):
            found[name] = count
            if len(found) == _MAX_NAMES:
                break
    return list(found)


def _repeats(text: str) -> Iterator[str]:
    """What a place of the text has in common with the next in alphabetical order (as in a suffix array)."""
    places = [place for place, character in enumerate(text) if character != " "]
    strings = sorted(text[place : place + _MAX_LENGTH].partition(" ")[0] for place in places)
    for one, other in pairwise(strings):
        if one[:_MIN_LENGTH] == other[:_MIN_LENGTH]:
            pairs = zip(one, other, strict=False)
            length = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
            name = one[:length]
            if _HANGUL.match(name):
                name = _KOREAN_PARTICLE.sub("", name)
            if len(name) >= (_MIN_THAI_LENGTH if _THAI.match(name) else _MIN_LENGTH):
                yield name


def _stands_free(name: str, text: str) -> bool:
    if _HANGUL.match(name):
        start = text.find(f" {name}")
        while start >= 0 and not _KOREAN_PARTICLE.match(text, start + 1 + len(name)):
            start = text.find(f" {name}", start + 1)
        return start >= 0
    if _MARKS_AFTER.match(name) or _VOWELS_BEFORE.search(name):  # not a whole syllable
        return False
    return f" {name}" in text or f"{name} " in text


def _is_part(name: str, count: int, longer: dict[str, int]) -> bool:
    """Whether a string occurs only as part of a longer one that is a name."""
    return any(name in other and count == times for other, times in longer.items())
