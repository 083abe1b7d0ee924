"""Token counters."""

import math
import re
from collections.abc import Callable
from functools import cache
from typing import Literal

from hopweave.extras import of_extra

Counter = Callable[[str], int]
"""A function from a text to its number of tokens."""

CounterName = Literal["approximate", "words", "characters", "tiktoken"]

_PIECE = re.compile(r"[A-Za-z]+|[0-9]+|\n+|[ \t]{2,}|[!-/:-@\[-`{-~]+|[\x00-\x08\x0b-\x1f\x7f]")
_TWO_BYTES = re.compile("[\u0080-\u07ff]")
_THREE_BYTES = re.compile("[\u0800-\uffff]")
_FOUR_BYTES = re.compile("[\U00010000-\U0010ffff]")


def approximate(text: str) -> int:
    """An estimate of the number of tokens in current models, rather too high than too low; needs no library.

    A word costs 1 for each six letters begun, a number 1 for each three digits, punctuation 1 for two marks, a
    character of another alphabet 0.6, of CJK 1.4, an emoji 3.

    >>> approximate("The ferry sails hourly."), approximate("渡轮每小时一班")
    (5, 10)
    """
    cost = 0.0
    for piece in _PIECE.findall(text):
        first = piece[0]
        if first.isalpha():
            cost += 1 + (len(piece) - 1) // 6
        elif first.isdigit():
            cost += 1 + (len(piece) - 1) // 3
        elif first.isspace():
            cost += 1
        else:
            cost += 1 + (len(piece) - 1) // 2
    if not text.isascii():
        cost += 0.6 * len(_TWO_BYTES.findall(text))
        cost += 1.4 * len(_THREE_BYTES.findall(text))
        cost += 3.0 * len(_FOUR_BYTES.findall(text))
    return math.ceil(cost)


def word_count(text: str) -> int:
    """The number of words separated by whitespace.

    >>> word_count("The ferry  sails.")
    3
    """
    return len(text.split())


@cache
def tiktoken_counter(encoding: str) -> Counter:
    """A counter by tiktoken, which fetches the encoding's vocabulary at its first use. Needs `hopweave[tiktoken]`."""
    vocabulary = of_extra("tiktoken", "tiktoken").get_encoding(encoding)
    # text that looks like a control token is counted as text
    return lambda text: len(vocabulary.encode(text, disallowed_special=()))


def counter_named(name: CounterName, encoding: str) -> Counter:
    """The counter of that name; `encoding` matters to tiktoken only.

    >>> counter_named("characters", "")("ferry")
    5
    """
    plain: dict[str, Counter] = {"approximate": approximate, "words": word_count, "characters": len}
    return plain[name] if name in plain else tiktoken_counter(encoding)
