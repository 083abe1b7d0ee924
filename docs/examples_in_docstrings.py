"""An extension of griffe: examples that begin with >>> are shown as code, as they stand in our docstrings."""

import re
from typing import Any

from griffe import Docstring, Extension

EXAMPLE = re.compile(r"^>>> .*?(?=\n[ \t]*\n(?!>>>)|\Z)", re.M | re.S)


class ExamplesInDocstrings(Extension):
    """Fences the examples of every docstring."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Called for each object that was found."""
        if obj.docstring and not obj.is_alias:
            fence(obj.docstring)


def fence(docstring: Docstring) -> None:
    """Put a fence around each run of lines that begins with >>>."""
    if "```" not in docstring.value:
        docstring.value = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```", docstring.value)
