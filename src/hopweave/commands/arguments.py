"""Declaration and parsing of arguments, shared by all commands."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hopweave.recipes import DEFAULT_RECIPE

if TYPE_CHECKING:
    from hopweave.knowledge_base.store import KnowledgeBase

DEFAULT_FILE = "hopweave.db"
RECIPE_HELP = f"a shipped recipe or a YAML file (default: {DEFAULT_RECIPE})"


SITE_URL_HELP = "the address at which the folder is published, so that links to it are links in the folder"


def command(
    commands: Any, name: str, run: Callable[[argparse.Namespace], int], summary: str, examples: str, *, kb: bool = True
) -> argparse.ArgumentParser:
    """Add a command with its function, summary and examples.

    >>> parser = argparse.ArgumentParser(prog="hopweave")
    >>> _ = command(parser.add_subparsers(), "check", lambda options: 0, "verify a file", "examples: …")
    >>> parser.parse_args(["check"]).kb
    'hopweave.db'
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    if kb:
        parser.add_argument("--kb", default=DEFAULT_FILE, metavar="FILE", help=f"the file (default: {DEFAULT_FILE})")
    return parser


def opened(file: str, **settings: Any) -> "KnowledgeBase":
    """The knowledge base in a file; the code for it is loaded when a command needs it."""
    from hopweave.knowledge_base.store import KnowledgeBase

    return KnowledgeBase.open(file, **settings)


def positive(text: str) -> int:
    """A whole number of at least 1.

    >>> positive("3")
    3
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, but got {text!r}")
    return int(text)


def share(text: str) -> float:
    """A number above 0 and at most 1.

    >>> share("0.5")
    0.5
    """
    return _number(text, 1.0, "a number above 0 and at most 1")


def seconds(text: str) -> float:
    """A number of seconds above 0.

    >>> seconds("2.5")
    2.5
    """
    return _number(text, sys.float_info.max, "a number of seconds above 0")


def _number(text: str, highest: float, allowed: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= highest:
        raise argparse.ArgumentTypeError(f"must be {allowed}, but got {text!r}")
    return number


def field_value(text: str) -> tuple[str, str]:
    """A metadata field and a value.

    >>> field_value("year=1974")
    ('year', '1974')
    """
    field, equals, value = text.partition("=")
    if not field or not equals:
        raise argparse.ArgumentTypeError(f"must look like field=value, but got {text!r}")
    return field, value


def filters_of(pairs: Sequence[tuple[str, str]]) -> dict[str, list[Any]]:
    """Filters on metadata: each field has one of its values, as text or, where it can be read so, as number or Boolean.

    >>> filters_of([("year", "1974"), ("type", "ship"), ("type", "boat")])
    {'year': ['1974', 1974], 'type': ['ship', 'boat']}
    """
    filters: dict[str, list[Any]] = {}
    for field, value in pairs:
        filters.setdefault(field, []).extend(_interpretations(value))
    return filters


def _interpretations(value: str) -> list[Any]:
    try:
        read = json.loads(value)
    except ValueError:
        return [value]
    return [value, read] if isinstance(read, int | float) else [value]
