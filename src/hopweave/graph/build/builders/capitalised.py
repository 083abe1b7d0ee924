"""Names found by how they are written: capitals, quotation marks, years. No model, no dictionary."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from hopweave.graph.model import Mention
from hopweave.language.stop_words import ARTICLES, CALENDAR_WORDS, STOP_WORDS
from hopweave.language.words import UNSPACED, character_class

PART_WEIGHT = 0.5
"""Weight of a part of a name: Harris in Port of Harris."""

# Small words that stand inside names, and those that stand as often between two names.
_INSIDE = (
    "of|the|de|la|le|les|du|des|der|den|dem|von|van|vom|zu|zur|zum|del|della|dei|di|da|do|dos|das|el|al|bin|ibn|y|e"
)
_BETWEEN = "and|&|for|in|on|at|to|und|et|with|from"
_LINKS = f"(?:(?:{_INSIDE}|{_BETWEEN}) )"
_ABBREVIATIONS = ("St", "Dr", "Mr", "Mrs", "Ms", "Mt", "Ft", "Prof", "Gen", "Col", "Capt", "Lt", "Sgt", "Rev", "Hon")

# no more small words in a row than in `name_run`
_BETWEEN_NAMES = re.compile(f" {_LINKS}{{0,3}}(?:{_BETWEEN}) {_LINKS}{{0,3}}")
_INSIDE_NAMES = re.compile(f" {_LINKS}+")
_IN_FRONT = re.compile(f"{_LINKS}*")
_QUOTED = re.compile(
    r"[\"“„]\s?([^\"“”„\n]{2,60}?)\s?[\"”“]|«\s?([^«»\n]{2,60}?)\s?»"
    r"|「([^「」\n]{2,30})」|『([^『』\n]{2,30})』|《([^《》\n]{2,30})》|〈([^〈〉\n]{2,30})〉|【([^【】\n]{2,30})】"
)
# in Latin script such a mark is as often an apostrophe
_SINGLE_QUOTED = re.compile(rf"['‘]([{UNSPACED}](?:[^'‘’\n]{{0,28}}[{UNSPACED}])?)['’]")
_YEAR = re.compile(r"\b(?:1\d|20)\d\d(?<![\w.,-]....)(?!\w|[.,]\d)")
_KANA = r"[\u30a1-\u30fa][\u30a1-\u30fa\u30fc]"
_KATAKANA = re.compile(rf"{_KANA}{{2,}}(?:[・=゠]{_KANA}*)*|{_KANA}*(?:[・=゠]{_KANA}*)+")
_UNSPACED_RUN = re.compile(f"[{UNSPACED}]+")
_SENTENCE_END = frozenset(".!?…:。！？\n#*")
_SPACE_OR_QUOTE = frozenset(" \t\"'“”‘(«")
_TAKEN_OFF = STOP_WORDS - ARTICLES | {"the", "a", "an"}  # "Los Angeles" keeps its article
_NO_NAMES = STOP_WORDS | CALENDAR_WORDS | frozenset("abcdefghijklmnopqrstuvwxyz") | frozenset(map(str, range(1000)))


@cache
def name_run() -> re.Pattern[str]:
    """A run of capitalised words, initials and small numbers, with the small words that stand inside names.

    >>> [run.group() for run in name_run().finditer("when J. R. Smith's Port of St. Harris 2 met D'Arcy-Łoś.")]
    ['J. R. Smith', 'Port of St. Harris 2', "D'Arcy-Łoś"]
    """
    upper, mark = character_class("upper"), character_class("mark")
    letters = rf"\w*(?:[{mark}]+\w*)*"
    rest = rf"{letters}(?:['’](?![sS]\b)\w{letters}|[-‐–]\w{letters}|- [{upper}]{letters})*"
    initial = r"\.(?<!\w\w.)(?<![IVX].) ?"  # "World War I. It" is the end of a sentence
    abbreviation = rf"\.(?:{'|'.join(rf'(?<={short}.)' for short in _ABBREVIATIONS)}) "
    between = rf"(?: {_LINKS}{{0,3}}|{initial}|{abbreviation})"
    # `re` searches fastest for a pattern that starts with a character class, so what must not stand before the
    # first letter is checked after it
    return re.compile(rf"[{upper}](?<!\w.){rest}(?:{between}[{upper}]{rest}| \d{{1,3}}(?!\w|[.,]\d))*")


def names_something(run: str) -> bool:
    """Whether there is more to a run than stop words, months, single letters and small numbers.

    >>> names_something("The Skua"), names_something("In May 12")
    (True, False)
    """
    return len(run) > 1 and not _NO_NAMES.issuperset(run.casefold().split())


def name_runs(text: str) -> Iterator[re.Match[str]]:
    """The runs of capitalised words in a text, which end where a script without spaces begins.

    >>> [run.group() for run in name_runs("Harrisの港でMV Skuaを見た")]
    ['Harris', 'MV Skua']
    """
    if not text.isascii():
        text = _UNSPACED_RUN.sub(lambda run: "、" * len(run.group()), text)
    return name_run().finditer(text)


def quoted(text: str) -> list[tuple[int, int]]:
    """Where short stretches in quotation marks begin and end, without the marks.

    >>> text = "the song « Harris », 「東京」 and '서울'"
    >>> [text[begin:end] for begin, end in quoted(text)]
    ['Harris', '東京', '서울']
    """
    found = [match.span(match.lastindex or 0) for match in _QUOTED.finditer(text)]
    return found if text.isascii() else found + [match.span(1) for match in _SINGLE_QUOTED.finditer(text)]


def katakana(text: str) -> list[tuple[int, int]]:
    """Where runs of Katakana begin and end, in which Japanese writes most foreign names.

    >>> text = "ジャン=ジャック・ルソーはパリにいた。"
    >>> [text[begin:end] for begin, end in katakana(text)]
    ['ジャン=ジャック・ルソー']
    """
    return [] if text.isascii() else [match.span() for match in _KATAKANA.finditer(text)]


def capitalised_names(text: str, *, year_weight: float = 0.25) -> list[Mention]:
    """The names in a text, each once.

    A capital at the start of a sentence is no evidence of a name: a single word there is not `sure`, stop words are
    taken off, and of a longer run the rest is given as well. Names joined by a small word are given whole and in parts.

    >>> [mention.name for mention in capitalised_names("The ferry Skua left Port of Harris. She sank in 1974.")]
    ['Skua', 'Port of Harris', 'Port', 'Harris', '1974']
    """
    text = unicodedata.normalize("NFKC", text)
    found: dict[str, tuple[bool, float]] = {}
    for name, weight, sure in _names(text, year_weight):
        if name not in found or found[name] < (sure, weight):
            found[name] = (sure, weight)
    return [Mention(name, weight=weight, sure=sure) for name, (sure, weight) in found.items()]


def _names(text: str, year_weight: float) -> Iterator[tuple[str, float, bool]]:
    for match in name_runs(text):
        run = match.group()
        # before a script without capitals, a capital says the same everywhere in a sentence
        opens = _opens_sentence(text, match.start()) and not _UNSPACED_RUN.match(text, match.end())
        if opens:
            run, opens = _without_stop_words(run)
        if names_something(run):
            yield from _whole_and_parts(run, opens)
    for begin, end in quoted(text):
        if names_something(text[begin:end]) and not text[begin].islower():
            yield text[begin:end], 1.0, True
    for begin, end in katakana(text):
        yield text[begin:end], 1.0, True
    if year_weight:
        for year in _YEAR.findall(text):
            yield year, year_weight, True


def _whole_and_parts(run: str, opens: bool) -> Iterator[tuple[str, float, bool]]:
    _, several, rest = run.partition(" ")
    yield run, 1.0, bool(several) or not opens
    if not several:
        return
    if opens:
        rest = _IN_FRONT.sub("", rest, count=1)
        if names_something(rest):
            yield rest, 1.0, False
    if not _INSIDE_NAMES.search(run):
        return
    for first, name in enumerate(_BETWEEN_NAMES.split(run)):
        if name != run and names_something(name):
            yield name, 1.0, first > 0 or not opens
        parts = _INSIDE_NAMES.split(name)
        for second, part in enumerate(parts if len(parts) > 1 else ()):
            if names_something(part):
                yield part, PART_WEIGHT, first + second > 0 or not opens


def _opens_sentence(text: str, start: int) -> bool:
    before = start - 1
    while before >= 0 and text[before] in _SPACE_OR_QUOTE:
        before -= 1
    return before < 0 or text[before] in _SENTENCE_END


def _without_stop_words(run: str) -> tuple[str, bool]:
    """The run without the stop words in front, and whether it still opens its sentence."""
    opens = True
    while run:
        first, _, rest = run.partition(" ")
        if first.casefold() not in _TAKEN_OFF:
            break
        run, opens = rest, False
    return run, opens
