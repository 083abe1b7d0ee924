"""Sentence segmentation."""

import re

_FULL_LINE = 60
"""A line of at least this length is assumed to be wrapped; a shorter one ends a sentence."""

_CLOSING = "\"'”’»)\\]」』）】》"
# possessive quantifiers, so the time is linear for any text
_END = re.compile(rf"[.!?…]++[{_CLOSING}]*+|[。！？｡]++[{_CLOSING}]*+|\n")
_BULLET = re.compile(r"[ \t]*+(?:[-*+•#>|]|[0-9]{1,3}[.)])[ \t]")
_LAST_WORD = re.compile(r"(?<![\w.])[^\W\d_]+(?:\.[^\W\d_]+)*$")
_BEFORE_NAMES = "e.g i.e cf vs al approx dr mr mrs ms mx prof rev hon st mt gen col sgt capt lt gov sen bzw ca z.b d.h"
_BEFORE_NUMBERS = "no nos fig figs vol vols p pp ch sec eq eqs art est jan feb mar apr jun jul aug sep sept oct nov dec"
_TITLES = frozenset(_BEFORE_NAMES.split())
_COUNTED = frozenset(_BEFORE_NUMBERS.split())


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, without the white space around it.

    A sentence ends at . ! ? … before white space (not after initials or common abbreviations, not before a small
    letter), at CJK marks, at an empty line, before a bullet, and at the end of a short line.

    >>> text = "Dr. Moe built it in 1974. It sails hourly! 渡轮每小时一班。冬天也开。"
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['Dr. Moe built it in 1974.', 'It sails hourly!', '渡轮每小时一班。', '冬天也开。']
    """
    spans = []
    start = line = 0
    for found in _END.finditer(text):
        end = found.end()
        if found.group() == "\n":
            boundary = _ends_at_line(text, line, found.start(), end)
            line = end
        else:
            boundary = text[found.start()] in "。！？｡" or _ends_at_mark(text, start, found.start(), end)
        if boundary:
            spans.append((start, end))
            start = end
    spans.append((start, len(text)))
    return [trimmed for span in spans if (trimmed := _trimmed(text, *span)) is not None]


def sentences(text: str) -> list[str]:
    """The sentences themselves.

    >>> sentences("It sails. Does it? Yes.")
    ['It sails.', 'Does it?', 'Yes.']
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends_at_line(text: str, line: int, end: int, after: int) -> bool:
    following = text[after : after + 1]
    if following in {"", "\n", "\r"} or end - line < _FULL_LINE:
        return True
    return _BULLET.match(text, after) is not None


def _ends_at_mark(text: str, start: int, mark: int, end: int) -> bool:
    if end < len(text) and not text[end].isspace():
        return False
    following = _next_visible(text, end)
    if following.islower():
        return False
    word = _LAST_WORD.search(text, max(start, mark - 12), mark)
    if word is None or text[mark:end] != ".":
        return True
    return not _is_abbreviation(word.group(), following)


def _is_abbreviation(word: str, following: str) -> bool:
    folded = word.casefold()
    initials = word.isupper() and all(len(letter) == 1 for letter in word.split("."))
    return initials or folded in _TITLES or (folded in _COUNTED and following.isdigit())


def _next_visible(text: str, place: int) -> str:
    # a few characters are enough; looking further would take quadratic time in a text of blanks
    return text[place : place + 8].lstrip()[:1]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    visible = piece.strip()
    if not visible:
        return None
    start += len(piece) - len(piece.lstrip())
    return start, start + len(visible)
