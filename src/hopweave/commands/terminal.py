"""Print the output of commands. Control characters are shown, not sent to the terminal."""

import codecs
import io
import json
import os
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


def prepare_streams() -> None:
    r"""Let any text be printed: what the encoding lacks as `\u....`, as in JSON; a closed stream takes nothing."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors=_AS_JSON)


def _as_json(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_AS_JSON = "hopweave.as_json"
codecs.register_error(_AS_JSON, _as_json)


def show(text: object) -> None:
    """Print a result."""
    print(printable(str(text)))


def note(text: object) -> None:
    """Print what the user should know beside the result, to the stream of errors."""
    print(f"hopweave: {printable(str(text))}", file=sys.stderr)
