"""Analyzers: functions from text to terms.

An analyzer is named by a string, so that it can be stored in recipes and files: `nlp` (English), `nlp:german` (any
Snowball language), `code` or `light`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from unicodedata import category, normalize

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import WORDS_KEPT, once, string_cache
from hopweave.language.stop_words import bm25_stop_words
from hopweave.language.terms import stemmer
from hopweave.language.words import HAN, KANA
from hopweave.storage.strings import string_hash

Analyzer = Callable[[str], list[str]]
Keys = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int32]

_ASCII_WORD = re.compile(r"\w+")
_MARKS = "".join(chr(code) for code in range(0x300, 0x1B00) if category(chr(code)).startswith("M"))
WORD = re.compile(rf"[\w{_MARKS}]+")  # vowel signs of Hindi, Thai, Arabic ... are part of a word, but not of \w
_UNSPACED = re.compile(f"([{KANA}{HAN}]+)")  # no more than these, as files hold terms that were made so
_CODE_TOKEN = re.compile(r"[^\W\d_][\w.\-]*\w|\w+")
_CODE_PART = re.compile(r"[^\W\d_]+|\d+")
_CAMEL_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LIGHT_SUFFIXES = tuple(
    sorted(
        ("ation tion sion ment ness able ible ful less ous ive ing ed er est ly al ity").split(),  # noqa: SIM905
        key=lambda suffix: (-len(suffix), suffix),
    )
)


def tokenize(text: str) -> list[str]:
    """Lower-case words; runs of Chinese and Japanese, which have no spaces, as overlapping pairs of characters.

    >>> tokenize("Die Fähre nach 東京都, 08:30")
    ['die', 'fähre', 'nach', '東京', '京都', '08', '30']
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    # an accent may be written as part of its letter or after it, and letters may be full-width
    return [part for word in WORD.findall(normalize("NFKC", text).lower()) for part in _pairs(word)]


def _pairs(word: str) -> list[str]:
    parts: list[str] = []
    for odd, run in enumerate(_UNSPACED.split(word)):  # every other piece is unspaced
        if odd % 2 and len(run) > 1:
            parts.extend(run[start : start + 2] for start in range(len(run) - 1))
        elif run:
            parts.append(run)
    return parts


@once()
def analyzer(name: str) -> Analyzer:
    """The analyzer of that name.

    >>> analyzer("nlp")("The ferries were running late")
    ['ferri', 'run', 'late']
    >>> analyzer("spanish")
    Traceback (most recent call last):
        ...
    ValueError: analyzer 'spanish' is unknown; allowed are code, light, nlp and nlp:<language>, for example nlp:german
    """
    kind, _, language = check_analyzer(name).partition(":")
    return _PLAIN[kind] if kind in _PLAIN else _natural(language or "english")


def check_analyzer(name: str) -> str:
    """The name, if there is an analyzer of that name.

    >>> check_analyzer("nlp:german")
    'nlp:german'
    """
    import Stemmer

    kind, colon, language = name.partition(":")
    if name in (*_PLAIN, "nlp") or (kind == "nlp" and colon and language in Stemmer.algorithms()):
        return name
    if kind == "nlp":
        raise ValueError(f"analyzer language {language!r} is unknown; allowed are {', '.join(Stemmer.algorithms())}")
    raise ValueError(
        f"analyzer {name!r} is unknown; allowed are code, light, nlp and nlp:<language>, for example nlp:german"
    )


def is_english(name: str) -> bool:
    """Whether an analyzer reduces English words to their stems.

    >>> [name for name in ("nlp", "nlp:english", "nlp:german", "code", "light") if is_english(name)]
    ['nlp', 'nlp:english', 'light']
    """
    return name in ("nlp", "nlp:english", "nlp:porter", "light")


def stem_of(name: str) -> Callable[[str], str]:
    """The stemmer for the language of an analyzer, whether or not the analyzer stems.

    >>> stem_of("code")("crashes")
    'crash'
    """
    return stemmer(name.partition(":")[2] or "english")


def _natural(language: str) -> Analyzer:
    """Lower case, stop words out, Snowball stems."""
    left_out, stem = bm25_stop_words(language), stemmer(language)

    def analyse(text: str) -> list[str]:
        return [stem(word) for word in tokenize(text) if word not in left_out]

    return analyse


def analyse_code(text: str) -> list[str]:
    """Identifiers and their parts: camelCase, snake_case and dotted names are split, and the whole token is kept, too.

    >>> analyse_code("tide_gate.maxLevel")
    ['tide_gate.maxlevel', 'tide', 'gate', 'max', 'level']
    >>> analyse_code("HTTPServer v2")
    ['httpserver', 'http', 'server', 'v2', 'v', '2']
    """
    terms = []
    for token in _CODE_TOKEN.findall(text):
        parts = [part for piece in _CAMEL_BOUNDARY.split(token) for part in _CODE_PART.findall(piece)]
        terms.append(token.lower())
        if parts != [token]:
            terms.extend(part.lower() for part in parts)
    return terms


def analyse_light(text: str) -> list[str]:
    """Lower-case words without their longest known suffix, if at least three letters are left; for any language.

    >>> analyse_light("Navigation is harmless")
    ['navig', 'is', 'harm']
    """
    return [_light_stem(word) for word in tokenize(text)]


@string_cache(WORDS_KEPT)
def _light_stem(word: str) -> str:
    suffix = next((end for end in _LIGHT_SUFFIXES if word.endswith(end) and len(word) - len(end) >= 3), "")
    return word[: len(word) - len(suffix)]


def term_counts(terms: Iterable[str]) -> tuple[Keys, Counts]:
    """The term counts of a document: the keys of its distinct terms, sorted, and how often each occurs.

    >>> term_counts(["tide", "gate", "tide"])[1].tolist()
    [1, 2]
    """
    counts = Counter(terms)
    keys = np.fromiter(map(string_hash, counts), np.uint64, len(counts))
    order = np.argsort(keys)
    return keys[order], np.fromiter(counts.values(), np.int32, len(counts))[order]


_PLAIN: dict[str, Analyzer] = {"code": analyse_code, "light": analyse_light}
