"""`hopweave delete`: remove documents from a knowledge base file."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import command, field_value, filters_of
from hopweave.commands.terminal import note, show

if TYPE_CHECKING:
    from hopweave.knowledge_base.store import KnowledgeBase

_EXAMPLES = """\
examples:
  hopweave delete skua tern --kb corpus.db
  hopweave delete --source ships/log.md
  hopweave delete --source drafts/ --dry-run
  hopweave delete --filter type=notice --filter year=1974

A source is the file that documents were read from, as hopweave query --json shows it; one that ends in / stands for all
files in that folder. A filter is on metadata, as in hopweave query: with several fields, documents that have them all.
Remove the file itself too, or the next hopweave index adds it again. Parts of deleted documents stay in the knowledge
base until hopweave compact --vacuum removes them.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    delete = command(commands, "delete", run, "remove documents from a knowledge base file", _EXAMPLES)
    delete.add_argument("id", nargs="*", help="ids of documents")
    delete.add_argument("--source", action="append", default=[], metavar="NAME", help="a file; may be repeated")
    delete.add_argument(
        "--filter",
        action="append",
        type=field_value,
        default=[],
        metavar="FIELD=VALUE",
        help="documents whose metadata has this value; may be repeated",
    )
    delete.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")


def run(options: argparse.Namespace) -> int:
    """Remove documents and say how many; 1 if there is nothing by one of the names."""
    from hopweave.errors import KnowledgeBaseError
    from hopweave.knowledge_base.store import KnowledgeBase

    if sum(map(bool, (options.id, options.source, options.filter))) != 1:
        note("give one of: ids, --source, --filter")
        return 2
    if not Path(options.kb).exists():
        raise KnowledgeBaseError(f"{options.kb}: does not exist")
    with KnowledgeBase.open(options.kb, read_only=options.dry_run) as kb:
        ids, unknown = _chosen(kb, options)
        for complaint in unknown:
            note(f"{options.kb}: {complaint}")
        if options.dry_run:
            for key in ids:
                show(key)
        count = len(ids) if options.dry_run else kb.delete(ids)
        if count and not options.dry_run:
            kb.compact(if_needed=True)
        show(f"{options.kb}: {count} {'would be removed' if options.dry_run else 'removed'}; {kb.count()} documents")
    return 1 if unknown else 0


def _chosen(kb: "KnowledgeBase", options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The ids of the documents that are meant, and what to say of names that nothing has."""
    if options.filter:
        return kb.ids(where=filters_of(options.filter)), []
    if options.id:
        there = kb.sources_of(options.id)
        return list(there), [f"there is no document {key!r}{_parts(kb, key)}" for key in options.id if key not in there]
    found = {
        name: {one for one in kb.sources() if one == name or (name.endswith("/") and one.startswith(name))}
        for name in options.source
    }
    wanted = set().union(*found.values())
    ids = [key for key, source in kb.sources_of(kb.ids()).items() if source in wanted]
    return ids, [f"there is no source {name!r}" for name, sources in found.items() if not sources]


def _parts(kb: "KnowledgeBase", key: str) -> str:
    count = kb.sources().get(key)
    return f", but {count} in the source of that name: hopweave delete --source {key}" if count else ""
