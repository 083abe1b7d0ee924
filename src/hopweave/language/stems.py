"""Words without their endings.

M. F. Porter (1980): An algorithm for suffix stripping; (2001): Snowball, a language for stemming algorithms.
"""

from collections.abc import Callable

from hopweave.concurrency.once import once
from hopweave.language.string_cache import WORDS_KEPT, string_cache


@once()
def stemmer(language: str) -> Callable[[str], str]:
    """The Snowball stemmer of a language, which keeps the stems of the latest words.

    >>> stemmer("english")("crashes")
    'crash'
    """
    import Stemmer

    return string_cache(WORDS_KEPT)(Stemmer.Stemmer(language, 0).stemWord)
