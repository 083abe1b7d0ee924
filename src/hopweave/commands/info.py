"""`hopweave info`: what a knowledge base file holds."""

import argparse
import json
from collections import Counter
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave info --kb corpus.db
  hopweave info --kb corpus.db --json
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    info = command(commands, "info", run, "show what a knowledge base file holds", _EXAMPLES)
    info.add_argument("--json", action="store_true", help="print it as JSON")


def run(options: argparse.Namespace) -> int:
    """Show documents, graph, settings, sizes, changes since the last compaction, and remains of what was deleted."""
    from hopweave.knowledge_base.store import KnowledgeBase

    with KnowledgeBase.open(options.kb, read_only=True, allow_graph=True) as kb:
        facts = kb.info()
        files = Counter(one.folder or one.file for one in kb.source_files().values())
    facts["read_from"] = dict(sorted(files.items()))
    if options.json:
        show(json.dumps(facts, ensure_ascii=False, indent=2))
        return 0
    for name in ("documents", "nodes", "edges", "embedder"):
        show(f"{name:<12}{facts[name]}")
    for name in ("analyzers", "builders"):
        show(f"{name:<12}{', '.join(facts[name]) or 'none'}")
    show(f"{'version':<12}{facts['version']}, which grows with every change")
    removal = f"may be in the file or its images; hopweave compact --kb {options.kb} --vacuum removes them"
    show(f"remains of deleted or replaced documents: {removal if facts['deleted_remains'] else 'none'}")
    if files:
        show("read from")
    for place, count in facts["read_from"].items():
        show(f"  {count:>10} {'file ' if count == 1 else 'files'}  {place}")
    show("on disk")
    for name, size in facts["bytes"].items():
        show(f"  {size / 1e6:>10.2f} MB  {name}")
    show("changed since the last compaction")
    for name, share in facts["changed"].items():
        show(f"  {100 * share:>10.1f} %   {name}")
    return 0
