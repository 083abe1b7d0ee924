"""A cache for functions of strings, at no cost to the garbage collector."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value", str, int)

WORDS_KEPT = 10_000
"""For functions of words: questions bring new numbers, names and spelling mistakes for as long as a service runs."""


def string_cache(size: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Keep what a function returns for up to `size` strings: those of the latest calls, and at least half as many.

    The garbage collector visits every entry of a `functools.lru_cache`, so that with some 100,000 of them all threads
    wait for a fifth of a second. A plain dictionary from strings to strings or numbers is passed over. There are two:
    when the newer one has half of `size`, it becomes the older one.

    >>> double = string_cache(2)(lambda text: 2 * text)
    >>> double("a"), double("b"), double("c"), double("a")
    ('aa', 'bb', 'cc', 'aa')
    """

    def decorate(function: Callable[[str], Value]) -> Callable[[str], Value]:
        newer: dict[str, Value] = {}
        older: dict[str, Value] = {}

        @wraps(function)
        def call(text: str) -> Value:
            nonlocal newer, older
            value = newer.get(text)
            if value is None:
                value = older.get(text)
                if value is None:
                    value = function(text)
                if len(newer) >= max(1, size // 2):
                    newer, older = {}, newer
                newer[text] = value
            return value

        return call

    return decorate
