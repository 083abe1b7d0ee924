"""What commands print. Characters that a terminal would obey are shown, not sent."""

import re
import sys

# C0 without tab and newline, DEL, C1, marks that change the direction of writing, and surrogates, which no encoding has
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    r"""The text with control characters as `\u....`, which JSON reads as the character itself.

    >>> printable("A \x1b[31mred\x1b[0m ship, 東京")
    'A \\u001b[31mred\\u001b[0m ship, 東京'
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def show(text: object) -> None:
    """Print a result."""
    print(printable(str(text)))


def note(text: object) -> None:
    """Print what the user should know beside the result, to the stream of errors."""
    print(f"hopweave: {printable(str(text))}", file=sys.stderr)
