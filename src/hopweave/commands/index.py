"""`hopweave index`: read documents into a knowledge base file."""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import command, positive
from hopweave.errors import UnreadableInput

if TYPE_CHECKING:
    from hopweave.document import Document

_EXAMPLES = """\
examples:
  hopweave index docs/
  hopweave index corpus.jsonl --kb corpus.db --skip-bad
  hopweave index src.csv notes.md --analyzer nlp --analyzer code

JSON Lines and CSV need a field "text" (or "content"); "id" is optional, "vector" too, and all else is metadata.
Interrupted? Run the same command again: what is stored is skipped.
"""
_EMBEDDER_HELP = (
    "static (default), none, or the name or folder of a sentence-transformers model; settled when a file is new"
)
_ANALYZER_HELP = "nlp (default), nlp:<language>, code or light; may be repeated; settled when a file is new"
_GRAPH_HELP = (
    "what connects documents: mentions and links (default), metadata, services, triples, or none; may be repeated; "
    "settled when a file is new"
)


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    index = command(commands, "index", run, "read documents into a knowledge base file", _EXAMPLES)
    index.add_argument("path", nargs="+", help="folder of Markdown and text, or a .md, .txt, .jsonl or .csv file")
    index.add_argument("--embedder", default="default", metavar="NAME", help=_EMBEDDER_HELP)
    index.add_argument("--analyzer", action="append", metavar="NAME", help=_ANALYZER_HELP)
    index.add_argument("--graph", action="append", metavar="KIND", help=_GRAPH_HELP)
    index.add_argument("--skip-bad", action="store_true", help="report lines and files that cannot be read, and go on")
    index.add_argument("--batch-size", type=positive, default=256, metavar="N", help="documents per transaction")
    index.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def run(options: argparse.Namespace) -> int:
    """Index what was named and say what became of it."""
    from hopweave.knowledge_base.store import KnowledgeBase

    bad: list[UnreadableInput] = []

    def skip(error: UnreadableInput) -> None:
        bad.append(error)
        print(f"hopweave: skipped: {error}", file=sys.stderr)

    if not options.skip_bad:
        for path in options.path:
            if not Path(path).exists():  # said before a file is made for nothing
                raise UnreadableInput(f"{path}: does not exist")
    embedder, builders = _embedder(options.embedder), _builders(options.graph)
    with KnowledgeBase.open(options.kb, embedder=embedder, analyzers=options.analyzer, graph=builders) as kb:
        documents = _documents(options.path, skip if options.skip_bad else None)
        with _progress(options.quiet) as progress:
            try:
                done = kb.add(documents, batch_size=options.batch_size, progress=progress)
            except KeyboardInterrupt:
                print(
                    f"hopweave: interrupted with {kb.count()} documents stored; run it again to go on", file=sys.stderr
                )
                raise
        if not options.quiet:
            skipped = f", {len(bad)} skipped" if bad else ""
            print(
                f"{options.kb}: {done.added} added, {done.updated} updated, {done.unchanged} unchanged{skipped}; "
                f"{kb.count()} documents"
            )
    return 0


def _documents(paths: Sequence[str], on_bad: Callable[[UnreadableInput], None] | None) -> "Iterator[Document]":
    from hopweave.knowledge_base.files import read_documents

    seen: set[str] = set()
    for path in paths:
        for document in read_documents(path, on_bad=on_bad):
            if document.id not in seen:
                seen.add(document.id)
                yield document
                continue
            error = UnreadableInput(f"{path}: id {document.id!r} comes a second time; one would replace the other")
            if on_bad is None:
                raise error
            on_bad(error)


@contextmanager
def _progress(quiet: bool) -> Iterator[Any]:
    from tqdm import tqdm

    with tqdm(unit=" documents", disable=True if quiet else None, file=sys.stderr) as bar:  # None: only on a terminal
        yield bar.update


def _builders(kinds: Sequence[str] | None) -> Any:
    if kinds is None or kinds == ["none"]:
        return None if kinds is None else []
    import hopweave.catalogue  # noqa: F401 - so that every kind is known
    from hopweave.component import registered
    from hopweave.graph.build.builder import GraphBuilder

    known = registered(GraphBuilder)
    for kind in kinds:
        if kind not in known:
            raise ValueError(f"--graph: {kind!r} is not allowed; there are {', '.join(known)} and none")
    return [known[kind](kind=kind) for kind in kinds]


def _embedder(name: str) -> Any:
    from hopweave.vector.embedders import SentenceTransformerEmbedder, StaticEmbedder

    known = {"default": "default", "none": None, "static": StaticEmbedder()}
    return known[name] if name in known else SentenceTransformerEmbedder(model=name)
