"""Commands that keep a knowledge base file: import, delete, check, compact, restore, info, train-embedder, schema."""

import argparse
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import SITE_URL_HELP, command, field_value, filters_of, opened, positive
from hopweave.commands.terminal import note, show
from hopweave.errors import EmptyFile, KnowledgeBaseError

if TYPE_CHECKING:
    from hopweave.knowledge_base.store import KnowledgeBase

_IMPORT_EXAMPLES = """\
examples:
  hopweave import sqlite graph.db --kb corpus.db
  hopweave import sqlite graph.db --kb corpus.db --keep-vectors

Each row of the table nodes (or entities) becomes a document, each row of edges (or relationships) an edge of the graph.
With --keep-vectors, the embeddings (embeddings, node_embeddings or vec_embeddings) are kept as given, and a question
must bring a vector of the same model; without, documents are embedded as usual.
"""


def add_import(commands: Any) -> None:
    """Declare `hopweave import`."""
    parser = command(
        commands, "import", _import, "read nodes, edges and embeddings of another program", _IMPORT_EXAMPLES
    )
    parser.add_argument("format", choices=["sqlite"], help="what kind of file it is")
    parser.add_argument("path", help="the file to read")
    parser.add_argument("--keep-vectors", action="store_true", help="keep the embeddings instead of making new ones")


def _import(options: argparse.Namespace) -> int:
    """Import and say what became of it."""
    from hopweave.knowledge_base.settings import UNSET
    from hopweave.readers.sqlite_tables import read_sqlite_tables

    tables = read_sqlite_tables(options.path)
    documents = tables.documents if options.keep_vectors else [replace(one, vector=None) for one in tables.documents]
    with opened(options.kb, embedder=None if options.keep_vectors else UNSET) as kb:
        done = kb.add(documents)
        kb.contribute(tables.contributions)
        edges = sum(len(one.edges) for one in tables.contributions)
        show(f"{options.kb}: {done.added} added, {done.updated} updated, {done.unchanged} unchanged; {edges} edges")
    return 0


_DELETE_EXAMPLES = """\
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


def add_delete(commands: Any) -> None:
    """Declare `hopweave delete`."""
    delete = command(commands, "delete", _delete, "remove documents from a knowledge base file", _DELETE_EXAMPLES)
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


def _delete(options: argparse.Namespace) -> int:
    """Remove documents and say how many; 1 if there is nothing by one of the names."""
    if sum(map(bool, (options.id, options.source, options.filter))) != 1:
        note("give one of: ids, --source, --filter")
        return 2
    _check_exists(options.kb)
    with opened(options.kb, read_only=options.dry_run) as kb:
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


_CHECK_EXAMPLES = """\
examples:
  hopweave check --kb corpus.db
  hopweave check --links --json
"""


def add_check(commands: Any) -> None:
    """Declare `hopweave check`."""
    check = command(commands, "check", _check, "verify a knowledge base file", _CHECK_EXAMPLES)
    check.add_argument("--links", action="store_true", help="read the files again and list links that lead nowhere")
    check.add_argument("--json", action="store_true", help="with --links: one JSON object")
    check.add_argument("--site-url", default="", metavar="URL", help=SITE_URL_HELP)


def _check(options: argparse.Namespace) -> int:
    """Print the problems of the file, or that there are none."""
    if options.links:
        return _check_links(options)
    try:
        with opened(options.kb, read_only=True, allow_graph=True) as kb:
            problems, notes = kb.check(), kb.check_notes()
            sound = f"{options.kb}: sound, {kb.count()} documents, version {kb.version}"
    except EmptyFile as error:  # an empty file has no problems
        problems, notes, sound = [], [], str(error)
    show("\n".join(problems) or sound)
    for one in notes:
        note(one)
    return 1 if problems else 0


def _check_links(options: argparse.Namespace) -> int:
    """Print the links in the files of a knowledge base that lead nowhere, by file and line."""
    from hopweave.readers.link_check import check_links

    with opened(options.kb, read_only=True) as kb:
        links, dead = check_links(
            {source: Path(one.file) for source, one in kb.source_files().items()}, options.site_url
        )
    if options.json:
        show(json.dumps({**links.counts(), "dead_links": [one._asdict() for one in dead]}, ensure_ascii=False))
    else:
        show("\n".join([*(f"{one.file}:{one.line}: {one.target}" for one in dead), str(links)]))
    return 1 if dead else 0


_COMPACT_EXAMPLES = """\
examples:
  hopweave compact --kb corpus.db
  hopweave compact --kb corpus.db --vacuum

A file compacts itself in the background when a tenth of it, and at least 1,000 entries, have changed. By hand it is of
use after many changes. Others may read and write meanwhile. After a deletion of which nothing may remain, use --vacuum:
it also writes the file anew, so that it gets smaller and nothing of deleted documents is in it, its log or its images.
Others may read meanwhile, but wait to write, about 1.1 s for 100,000 passages.
"""


def add_compact(commands: Any) -> None:
    """Declare `hopweave compact`."""
    compact = command(
        commands, "compact", _compact, "write new index images, and the file anew if wanted", _COMPACT_EXAMPLES
    )
    compact.add_argument("--rebuild", action="store_true", help="work indexes out from the documents alone")
    compact.add_argument(
        "--vacuum", action="store_true", help="write the file anew, without remains of deleted documents"
    )


def _compact(options: argparse.Namespace) -> int:
    """Compact the file, and say if remains of deleted documents may be left in it."""
    _check_exists(options.kb)
    with opened(options.kb, allow_graph=True) as kb:
        kb.compact(rebuild=options.rebuild, vacuum=options.vacuum)
        anew = " and written anew; nothing of deleted documents is left" if options.vacuum else ""
        show(f"{options.kb}: compacted{anew}, {kb.count()} documents")
        if kb.deleted_remains:
            note(
                f"{options.kb}: remains of deleted or replaced documents may still be in the file or its images; "
                f"remove them with: hopweave compact --kb {options.kb} --vacuum"
            )
    return 0


_RESTORE_EXAMPLES = """\
examples:
  hopweave restore backup.db --kb corpus.db

The other file stays as it is. Processes that have the knowledge base open see the new content at their next search, as
after any write. A file that is damaged, of another program, or of other settings (embedder, analyzers, graph) is
refused.
"""


def add_restore(commands: Any) -> None:
    """Declare `hopweave restore`."""
    restore = command(
        commands, "restore", _restore, "put the content of another file in the place of this one's", _RESTORE_EXAMPLES
    )
    restore.add_argument("file", help="the other file: a backup, or one that was indexed elsewhere")


def _restore(options: argparse.Namespace) -> int:
    """Restore the file and say what is in it now."""
    _check_exists(options.kb, f"; copy {options.file} there")
    with opened(options.kb, allow_graph=True) as kb:
        kb.restore(options.file)
        show(f"{options.kb}: restored from {options.file}, {kb.count()} documents")
    return 0


_INFO_EXAMPLES = """\
examples:
  hopweave info --kb corpus.db
  hopweave info --kb corpus.db --json
"""


def add_info(commands: Any) -> None:
    """Declare `hopweave info`."""
    info = command(commands, "info", _info, "show what a knowledge base file holds", _INFO_EXAMPLES)
    info.add_argument("--json", action="store_true", help="print it as JSON")


def _info(options: argparse.Namespace) -> int:
    """Show documents, graph, settings, sizes, changes since the last compaction, and remains of what was deleted."""
    with opened(options.kb, read_only=True, allow_graph=True) as kb:
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


_TRAIN_EXAMPLES = """\
examples:
  hopweave train-embedder --kb corpus.db
  hopweave train-embedder --kb corpus.db --start static --epochs 10

Learns from the edges of the graph alone: no other model, no download. The weights are kept in the file, and all its
documents are embedded anew. Run it again after many changes. With --start static, training begins with the word
vectors of WordLlama. Measure with `hopweave evaluate` whether it helps on your corpus.
"""


def add_train_embedder(commands: Any) -> None:
    """Declare `hopweave train-embedder`."""
    parser = command(
        commands,
        "train-embedder",
        _train_embedder,
        "train an embedder on the graph of a file",
        _TRAIN_EXAMPLES,
    )
    parser.add_argument("--start", choices=["random", "static"], default="random", help="word vectors to start from")
    parser.add_argument("--epochs", type=positive, default=30, metavar="N", help="at most so many (default: 30)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def _train_embedder(options: argparse.Namespace) -> int:
    """Train and say how the loss fell."""
    from tqdm import tqdm

    from hopweave.knowledge_base.train_embedder import train_embedder
    from hopweave.vector.contextual.training import Training

    _check_exists(options.kb)
    shown = not options.quiet and sys.stderr.isatty()
    with (
        opened(options.kb) as kb,
        tqdm(total=options.epochs, unit=" epochs", disable=not shown, file=sys.stderr) as bar,
    ):

        def progress(epoch: int, loss: float, held_out: float) -> None:  # noqa: ARG001 - as `Progress` has it
            bar.set_postfix(held_out=f"{held_out:.3f}")
            bar.update()

        settings = Training(epochs=options.epochs, seed=options.seed)
        trained = train_embedder(kb, settings, start=options.start, progress=progress)
        if not options.quiet:
            losses = f"{trained.losses[0]:.3f} to {trained.losses[trained.best_epoch]:.3f}"
            show(
                f"{options.kb}: held-out loss from {losses} after {trained.best_epoch} epochs; {kb.count()} documents "
                f"embedded as {kb.settings.model}"
            )
    return 0


_SCHEMA_EXAMPLES = """\
examples:
  hopweave schema --output recipe.schema.json
"""


def add_schema(commands: Any) -> None:
    """Declare `hopweave schema`."""
    schema = command(commands, "schema", _schema, "print the JSON Schema of recipes", _SCHEMA_EXAMPLES, kb=False)
    schema.add_argument("--output", type=Path, metavar="FILE", help="write it there instead")


def _schema(options: argparse.Namespace) -> int:
    """Print the schema, or write it to a file."""
    from hopweave.recipe import recipe_schema

    text = json.dumps(recipe_schema(), indent=2, ensure_ascii=False)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    else:
        show(text)
    return 0


def _check_exists(path: str, remedy: str = "") -> None:
    if not Path(path).exists():
        raise KnowledgeBaseError(f"{path}: does not exist{remedy}")
