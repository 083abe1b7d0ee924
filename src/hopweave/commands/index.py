"""`hopweave index`: read documents into a knowledge base file."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import SITE_URL_HELP, command, opened, positive, share
from hopweave.commands.terminal import note, show
from hopweave.errors import KnowledgeBaseError, UnreadableInput

if TYPE_CHECKING:
    from hopweave.document import Document
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.readers.input_files import InputFiles

_EXAMPLES = """\
examples:
  hopweave index docs/
  hopweave index corpus.jsonl --kb corpus.db --skip-bad
  hopweave index src.csv notes.md --analyzer nlp --analyzer code
  hopweave index tickets/2026 --prefix tickets
  hopweave index manuals/ --moved-from docs/

Of a folder, all files of known kinds are read; hidden ones are not, and a file that cannot be read does not stop the
others. JSON Lines need a field "text" (or "content"); "id" is optional, "vector" too, and all else is metadata.
Interrupted? Run the same command again: what is stored is skipped. Indexing a file again removes the parts that it no
longer has; --sync also removes what came from files that are gone, so name all that belongs into the knowledge base.
Ids are paths relative to the folder. A file keeps its id from wherever it is indexed, and one from another place with
the same id is refused: give what is there a --prefix, or, if a folder has moved, say where it was with --moved-from.
If hopweave check says that the embedder had failed when documents were added: hopweave index --repair.
"""
_EMBEDDER_HELP = (
    "static (default), none, onnx:PATH for a folder with a model in ONNX format, openai:MODEL or gemini:MODEL with the "
    "key in OPENAI_API_KEY or GEMINI_API_KEY, or the name or folder of a sentence-transformers model; "
    "settled when a file is new"
)
_ANALYZER_HELP = "nlp (default), nlp:<language>, code or light; may be repeated; settled when a file is new"
_GRAPH_HELP = (
    "what connects documents: mentions, links and parts (default), metadata, services, triples, or none; "
    "may be repeated; settled when a file is new"
)

_OWN_SHARE_HELP = (
    "blend vectors with those of neighbours in the graph: the share of a document's own vector, above 0 and at most 1 "
    "(default: 1, none); settled when a file is new"
)


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    index = command(commands, "index", run, "read documents into a knowledge base file", _EXAMPLES)
    index.add_argument("path", nargs="*", help="folder of Markdown and text, or a .md, .txt, .jsonl or .csv file")
    index.add_argument("--embedder", default="default", metavar="NAME", help=_EMBEDDER_HELP)
    index.add_argument("--analyzer", action="append", metavar="NAME", help=_ANALYZER_HELP)
    index.add_argument("--graph", action="append", metavar="KIND", help=_GRAPH_HELP)
    index.add_argument("--own-share", type=share, metavar="SHARE", help=_OWN_SHARE_HELP)
    index.add_argument("--skip-bad", action="store_true", help="report lines and files that cannot be read, and go on")
    index.add_argument("--skip-noise", action="store_true", help="report greetings, denials and the like, and go on")
    index.add_argument("--batch-size", type=positive, default=256, metavar="N", help="documents per transaction")
    index.add_argument("--sync", action="store_true", help="remove documents of files that are not read this time")
    index.add_argument("--prefix", type=_prefix, metavar="NAME", help="put NAME/ before all ids and sources")
    index.add_argument("--moved-from", metavar="PATH", help="where the folder or file was when it was indexed before")
    index.add_argument("--workers", type=positive, default=1, metavar="N", help="processes that prepare documents")
    index.add_argument("--follow-links", action="store_true", help="read symbolic links that lead out of the folder")
    index.add_argument("--site-url", default="", metavar="URL", help=SITE_URL_HELP)
    index.add_argument("--repair", action="store_true", help="embed what was added while the embedder failed")
    index.add_argument("--quiet", action="store_true", help="no progress bar and no summary")


def _prefix(text: str) -> str:
    if not (name := text.strip("/")):
        raise argparse.ArgumentTypeError(f"must be a name, but got {text!r}")
    return name


def run(options: argparse.Namespace) -> int:
    """Index what was named and say what became of it."""
    from hopweave.readers.input_files import InputFiles

    _check(options)
    bad: list[UnreadableInput] = []
    failed: list[UnreadableInput] = []

    def skip(error: UnreadableInput) -> None:
        bad.append(error)
        note(f"skipped: {error}")

    def refuse(error: UnreadableInput) -> None:
        raise error

    def leave_out(error: UnreadableInput) -> None:
        skip(error)
        failed.append(error)

    embedder, builders = _embedder(options.embedder), _builders(options.graph)
    with opened(
        options.kb, embedder=embedder, analyzers=options.analyzer, builders=builders, own_share=options.own_share
    ) as kb:
        found = InputFiles(
            kb,
            options.path,
            skip if options.skip_bad else refuse,
            prefix=options.prefix or "",
            moved_from=options.moved_from,
            follow_links=options.follow_links,
            site_url=options.site_url,
            on_bad_file=None if options.skip_bad else leave_out,
        )
        for text in found.notes:
            note(text)
        found.note = note
        _check_some(found, options, bad)
        noise: dict[str, str] = {}
        documents = found.documents(options.batch_size)
        if options.skip_noise:
            documents = _noted(documents, found.ids, noise)
        done = _add(kb, documents, found, options)
        mended = kb.repair(batch_size=options.batch_size) if options.repair else 0
        # a part that could not be read is not one that is gone
        removed = 0 if bad else kb.remove_missing({**found.ids, **(_gone(kb, found, options) if options.sync else {})})
        if done.added or done.updated or removed or mended:
            kb.compact(if_needed=True)
        if options.quiet:
            return 1 if failed else 0
        _say_of_files(found)
        extra = f", {removed} removed" if removed else ""
        extra += f", {mended} embedded again" if options.repair else ""
        extra += f", {len(noise)} left out as noise" if noise else ""
        extra += _skipped(found, bad, options)
        counts = f"{done.added} added, {done.updated} updated, {done.unchanged} unchanged"
        show(f"{options.kb}: {counts}{extra}; {kb.count()} documents")
        for links in found.links():
            show(links)
    return 1 if failed else 0


def _check(options: argparse.Namespace) -> None:
    """Report what is wrong with the options before a file is created."""
    if not options.path and (options.sync or not options.repair):
        note(f"the following arguments are required: path{'' if options.sync else ', or --repair'}")
        raise SystemExit(2)
    if options.moved_from and len(options.path) != 1:
        note("--moved-from needs exactly one path: where that folder or file is now")
        raise SystemExit(2)
    for path in () if options.skip_bad else options.path:
        if not Path(path).exists():
            raise UnreadableInput(f"{path}: does not exist")


def _add(kb: "KnowledgeBase", documents: "Iterator[Document]", found: "InputFiles", options: argparse.Namespace) -> Any:
    with _progress([file for file, *_ in found.files], options.quiet) as progress:
        try:
            return kb.add(documents, batch_size=options.batch_size, workers=options.workers, progress=progress)
        except KeyboardInterrupt:
            note(f"interrupted with {kb.count()} documents stored; run it again to go on")
            raise


def _check_some(found: "InputFiles", options: argparse.Namespace, bad: "Sequence[UnreadableInput]") -> None:
    from hopweave.readers.input_files import others_listed

    if options.path and not (found.files or bad or options.sync):
        kinds = others_listed(found.other_kinds)
        raise UnreadableInput(f"{', '.join(options.path)}: holds no file that can be read{kinds}")


def _skipped(found: "InputFiles", bad: "Sequence[UnreadableInput]", options: argparse.Namespace) -> str:
    skipped = f", {len(bad)} skipped{', so nothing removed' if options.sync else ''}" if bad else ""
    others = len(found.other_kinds)
    kinds = "file of another kind" if others == 1 else "files of other kinds"
    return f"{skipped}, {others} {kinds} skipped" if others else skipped


def _say_of_files(found: "InputFiles") -> None:
    from hopweave.readers.input_files import listed, others_listed

    for tree in found.trees.values():
        for address, count in tree.inferred.items():
            note(f"took {address} as this folder's own address: {count} links; --site-url names another")
    if found.other_kinds:
        note(f"files not read{others_listed(found.other_kinds)}")
    if found.empty:
        note(f"no document in {listed(found.empty)}")


def _gone(kb: "KnowledgeBase", found: "InputFiles", options: argparse.Namespace) -> dict[str, set[str]]:
    """The sources that were not read this time, without ids; not those behind links that were not followed."""
    sources = kb.sources()
    if not any(found.ids.values()) and sources:
        raise KnowledgeBaseError(
            f"--sync: there are no documents in {', '.join(options.path)}, so all {sum(sources.values())} that "
            "came from files would be removed; name a folder that has some"
        )
    from hopweave.readers.input_files import listed

    gone = sources.keys() - found.ids.keys()
    kept = found.behind_links(gone)
    if kept:
        note(f"--sync: kept {listed(sorted(kept))}, as links are not followed there")
    return {source: set() for source in gone - kept}


def _noted(
    documents: "Iterator[Document]", sources: dict[str, set[str]], noise: dict[str, str]
) -> "Iterator[Document]":
    """The documents without noise; what was stored of it before is then no longer part of its source."""
    from hopweave.stages.filter.noise import without_noise

    for document in documents:
        if any(without_noise([document], noise)):
            yield document
        else:
            sources[document.source].discard(document.id)
            note(f"left out as noise ({noise[document.id]}): {document.id}")


@contextmanager
def _progress(files: Sequence[Path], quiet: bool) -> Iterator[Any]:
    from tqdm import tqdm

    from hopweave.readers.files import estimated_documents

    shown = not quiet and sys.stderr.isatty()
    total = estimated_documents(files) if shown else None
    with tqdm(total=total, unit=" documents", disable=not shown, file=sys.stderr) as bar:
        yield bar.update


def _builders(kinds: Sequence[str] | None) -> Any:
    if kinds is None or kinds == ["none"]:
        return None if kinds is None else []
    import hopweave.catalogue  # noqa: F401 - so that every kind is known
    from hopweave.component import registered
    from hopweave.graph.build.builders.builder import GraphBuilder

    known = registered(GraphBuilder)
    for kind in kinds:
        if kind not in known:
            raise ValueError(f"--graph: {kind!r} is not allowed; there are {', '.join(known)} and none")
    return [known[kind](kind=kind) for kind in kinds]


def _embedder(name: str) -> Any:
    from hopweave.knowledge_base.settings import UNSET
    from hopweave.vector.embedders import SentenceTransformerEmbedder, StaticEmbedder

    provider, colon, model = name.partition(":")
    if colon and provider in ("openai", "gemini"):
        from hopweave.vector.remote_embedder import RemoteEmbedder

        return RemoteEmbedder.model_validate({"provider": provider, "model": model or None})
    if name.startswith("onnx:"):
        from hopweave.vector.onnx import OnnxEmbedder

        return OnnxEmbedder(model=name.removeprefix("onnx:"))
    known: dict[str, Any] = {"default": UNSET, "none": None, "static": StaticEmbedder()}
    return known[name] if name in known else SentenceTransformerEmbedder(model=name)
