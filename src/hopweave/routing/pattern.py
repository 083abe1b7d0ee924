"""Regular expressions in rules: validated when the rule is created, compiled once."""

import re
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The compiled expression.

    >>> compiled("ferr(y|ies)", re.IGNORECASE).search("Ferries") is not None
    True
    """
    return re.compile(pattern, flags)


def _check(pattern: str) -> str:
    try:
        compiled(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_check)]
"""A regular expression in a rule; it must compile."""
