"""Regular expressions in rules: validated when the rule is created, compiled once, bounded in time.

The expressions of hopweave's own rules take time linear in the message, which a test checks, and run on `re`. Nothing
is known of a user's: they run on the package `regex`, which has the syntax of `re` and a time limit.
"""

import re
from importlib import resources
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator

from hopweave.concurrency.once import once
from hopweave.errors import HopweaveError

MAX_SECONDS = 1.0
"""The time limit of a user's expression on one message."""

_shipped: set[str] = set()


def shipped(*patterns: str) -> tuple[str, ...]:
    """Expressions of hopweave itself, known to be linear."""
    _shipped.update(patterns)
    return patterns


def shipped_rules(file: str) -> Any:
    """The rules of hopweave itself in a YAML file of this folder, with their expressions marked as shipped."""
    rules = yaml.safe_load(resources.files(__package__).joinpath(file).read_text(encoding="utf-8"))
    for table in rules.values() if isinstance(rules, dict) else [rules]:
        for rule in table:
            shipped(*rule.get("patterns", ()))
    return rules


def listed(phrases: str) -> tuple[str, ...]:
    """Phrases that are separated by commas.

    >>> listed("can it, does ... support")
    ('can it', 'does ... support')
    """
    return tuple(phrases.split(", ")) if phrases else ()


def found(pattern: str, text: str, flags: int = 0) -> bool:
    """Return whether the expression matches anywhere in a text.

    >>> found("ferr(y|ies)", "Ferries", re.IGNORECASE)
    True
    """
    return _within_limit(pattern, flags, "search", text, 0) is not None


def end_of(pattern: str, text: str, start: int) -> int:
    """Match at a position of a text and return the end of the match, or the same position if there is none.

    >>> end_of("[0-9]+", "ab 123", 3), end_of("[0-9]+", "ab 123", 0)
    (6, 0)
    """
    matched = _within_limit(pattern, 0, "match", text, start)
    return start if matched is None else int(matched.end())


def _within_limit(pattern: str, flags: int, method: str, text: str, start: int) -> Any:
    expression = _compiled(pattern, flags)
    if isinstance(expression, re.Pattern):
        return getattr(expression, method)(text, start)
    try:
        return getattr(expression, method)(text, start, timeout=MAX_SECONDS)
    except TimeoutError as error:
        raise HopweaveError(
            f"the pattern {pattern!r} takes more than {MAX_SECONDS:g} s on this message; simplify it or use phrases"
        ) from error


@once(max_entries=1024)
def _compiled(pattern: str, flags: int) -> Any:
    checked = re.compile(pattern, flags)  # in any case, as `regex` allows more than `re`
    if pattern in _shipped and not flags:
        return checked
    try:
        import regex
    except ImportError as error:
        raise ValueError(
            "regular expressions in rules of your own need a package with a time limit; "
            "run: pip install 'hopweave[regex]', or use phrases"
        ) from error
    return regex.compile(pattern, (regex.IGNORECASE if flags & re.IGNORECASE else 0) | regex.VERSION0)


def _check(pattern: str) -> str:
    try:
        _compiled(pattern, 0)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_check)]
"""A regular expression in a rule; it must compile."""
