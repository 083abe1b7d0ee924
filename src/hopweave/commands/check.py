"""`hopweave check`: verify a knowledge base file."""

import argparse
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import note, show
from hopweave.errors import EmptyFile

_EXAMPLES = """\
examples:
  hopweave check --kb corpus.db
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    command(commands, "check", run, "verify a knowledge base file", _EXAMPLES)


def run(options: argparse.Namespace) -> int:
    """Print the problems of the file, or that there are none."""
    from hopweave.knowledge_base.store import KnowledgeBase

    try:
        with KnowledgeBase.open(options.kb, read_only=True, allow_graph=True) as kb:
            problems, notes = kb.check(), kb.check_notes()
            sound = f"{options.kb}: sound, {kb.count()} documents, version {kb.version}"
    except EmptyFile as error:  # an empty file has no problems
        problems, notes, sound = [], [], str(error)
    show("\n".join(problems) or sound)
    for one in notes:
        note(one)
    return 1 if problems else 0
