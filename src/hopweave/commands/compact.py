"""`hopweave compact`: write new index images."""

import argparse
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave compact --kb corpus.db

A file compacts itself in the background when a tenth of it has changed. By hand it is of use after many changes, and
after a deletion of which nothing may remain in the file. Others may read and write meanwhile.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    compact = command(
        commands, "compact", run, "write new index images and remove what deleted documents left", _EXAMPLES
    )
    compact.add_argument("--rebuild", action="store_true", help="work indexes out from the documents alone")


def run(options: argparse.Namespace) -> int:
    """Compact the file."""
    from pathlib import Path

    from hopweave.errors import KnowledgeBaseError
    from hopweave.knowledge_base.store import KnowledgeBase

    if not Path(options.kb).exists():
        raise KnowledgeBaseError(f"{options.kb}: does not exist")
    with KnowledgeBase.open(options.kb) as kb:
        kb.compact(rebuild=options.rebuild)
        show(f"{options.kb}: compacted, {kb.count()} documents")
    return 0
