"""`hopweave restore`: put the content of another file in the place of this one's."""

import argparse
from pathlib import Path
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import show
from hopweave.errors import KnowledgeBaseError

_EXAMPLES = """\
examples:
  hopweave restore backup.db --kb corpus.db

The other file stays as it is. Processes that have the knowledge base open see the new content at their next search, as
after any write. A file that is damaged, of another program, or of other settings (embedder, analyzers, graph) is
refused.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    restore = command(commands, "restore", run, "put the content of another file in the place of this one's", _EXAMPLES)
    restore.add_argument("file", help="the other file: a backup, or one that was indexed elsewhere")


def run(options: argparse.Namespace) -> int:
    """Restore the file and say what is in it now."""
    from hopweave.knowledge_base.store import KnowledgeBase

    if not Path(options.kb).exists():
        raise KnowledgeBaseError(f"{options.kb}: does not exist; copy {options.file} there")
    with KnowledgeBase.open(options.kb, allow_graph=True) as kb:
        kb.restore(options.file)
        show(f"{options.kb}: restored from {options.file}, {kb.count()} documents")
    return 0
