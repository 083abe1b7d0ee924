"""Which names a word may be a form of: "Swedish" of Sweden, "Polens" of Polen. Rules for endings, no list of names."""

import re
from typing import NamedTuple


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
