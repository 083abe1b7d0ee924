"""`hopweave compact`: write new index images, and the file anew if wanted."""

import argparse
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import note, show

_EXAMPLES = """\
examples:
  hopweave compact --kb corpus.db
  hopweave compact --kb corpus.db --vacuum

A file compacts itself in the background when a tenth of it, and at least 1,000 entries, have changed. By hand it is of
use after many changes. Others may read and write meanwhile. After a deletion of which nothing may remain, use --vacuum:
it also writes the file anew, so that it gets smaller and nothing of deleted documents is in it, its log or its images.
Others may read meanwhile, but wait to write, about 1.1 s for 100,000 passages.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    compact = command(commands, "compact", run, "write new index images, and the file anew if wanted", _EXAMPLES)
    compact.add_argument("--rebuild", action="store_true", help="work indexes out from the documents alone")
    compact.add_argument(
        "--vacuum", action="store_true", help="write the file anew, without remains of deleted documents"
    )


def run(options: argparse.Namespace) -> int:
    """Compact the file, and say if remains of deleted documents may be left in it."""
    from pathlib import Path

    from hopweave.errors import KnowledgeBaseError
    from hopweave.knowledge_base.store import KnowledgeBase

    if not Path(options.kb).exists():
        raise KnowledgeBaseError(f"{options.kb}: does not exist")
    with KnowledgeBase.open(options.kb, allow_graph=True) as kb:
        kb.compact(rebuild=options.rebuild, vacuum=options.vacuum)
        anew = " and written anew; nothing of deleted documents is left" if options.vacuum else ""
        show(f"{options.kb}: compacted{anew}, {kb.count()} documents")
        if kb.deleted_remains:
            note(
                f"{options.kb}: remains of deleted or replaced documents may still be in the file or its images; "
                f"remove them with: hopweave compact --kb {options.kb} --vacuum"
            )
    return 0
