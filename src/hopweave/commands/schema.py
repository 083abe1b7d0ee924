"""`hopweave schema`: the JSON Schema of recipes."""

import argparse
import json
from pathlib import Path
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave schema --output recipe.schema.json
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    schema = command(commands, "schema", run, "print the JSON Schema of recipes", _EXAMPLES, kb=False)
    schema.add_argument("--output", type=Path, metavar="FILE", help="write it there instead")


def run(options: argparse.Namespace) -> int:
    """Print the schema, or write it to a file."""
    from hopweave.recipe import recipe_schema

    text = json.dumps(recipe_schema(), indent=2, ensure_ascii=False)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    else:
        show(text)
    return 0
