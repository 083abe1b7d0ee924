"""Declaration and parsing of arguments, shared by all commands."""

import argparse
from collections.abc import Callable
from typing import Any

from hopweave.recipes import DEFAULT_RECIPE

DEFAULT_FILE = "hopweave.db"
RECIPE_HELP = f"a shipped recipe or a YAML file (default: {DEFAULT_RECIPE})"


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
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number above 0 and at most 1, but got {text!r}")
    return number


def seconds(text: str) -> float:
    """A number of seconds above 0.

    >>> seconds("2.5")
    2.5
    """
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, but got {text!r}")
    return number
