"""A cache for functions of strings, at no cost to the garbage collector."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value", str, int)

WORDS_KEPT = 30_000
"""For functions of words: questions bring new numbers, names and spelling mistakes for as long as a service runs."""


def string_cache(size: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Keep what a function returns for up to `size` strings; when there are more, start again.

    The garbage collector visits every entry of a `functools.lru_cache`, so that with some 100,000 of them all threads
    wait for a fifth of a second. A plain dictionary from strings to strings or numbers is passed over.

    >>> double = string_cache(2)(lambda text: 2 * text)
    >>> double("a"), double("b"), double("c"), double("a")
    ('aa', 'bb', 'cc', 'aa')
    """

    def decorate(function: Callable[[str], Value]) -> Callable[[str], Value]:
        known: dict[str, Value] = {}

        @wraps(function)
        def call(text: str) -> Value:
            value = known.get(text)
            if value is None:
                if len(known) >= size:
                    known.clear()
                value = known[text] = function(text)
            return value

        return call

    return decorate
