"""The command line: index, query, check, schema."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

import hopweave
from hopweave.errors import EmptyFile, HopweaveError, UnreadableInput, explain

if TYPE_CHECKING:
    from hopweave.document import Document

DEFAULT_FILE = "hopweave.db"

_DESCRIPTION = """\
Multi-hop graph evidence woven into hybrid retrieval.

  hopweave index docs/                       read a folder of Markdown into hopweave.db
  hopweave query "who built the tide gate?"  search it
  hopweave query "tide gate" --explain       and show why each hit has its score
"""
_INDEX_EXAMPLES = """\
examples:
  hopweave index docs/
  hopweave index corpus.jsonl --kb corpus.db --skip-bad
  hopweave index src.csv notes.md --analyzer nlp --analyzer code

JSON Lines and CSV need a field "text" (or "content"); "id" is optional, "vector" too, and all else is metadata.
Interrupted? Run the same command again: what is stored is skipped.
"""
_QUERY_EXAMPLES = """\
examples:
  hopweave query "who built the tide gate?"
  hopweave query "tide gate" --recipe hybrid --top-k 5 --explain
  hopweave query "timetable" --filter type=notice --json
"""
_CHECK_EXAMPLES = """\
examples:
  hopweave check --kb corpus.db
"""
_SCHEMA_EXAMPLES = """\
examples:
  hopweave schema --output recipe.schema.json
"""
_EMBEDDER_HELP = (
    "static (default), none, or the name or folder of a sentence-transformers model; settled when a file is new"
)
_ANALYZER_HELP = "nlp (default), nlp:<language>, code or light; may be repeated; settled when a file is new"
_GRAPH_HELP = (
    "what connects documents: mentions and links (default), metadata, services, triples, or none; may be repeated; "
    "settled when a file is new"
)
_FILTER_HELP = "only hits whose metadata has this value; may be repeated"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 well, 1 failed, 2 wrong usage, 130 interrupted."""
    options = _parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough; what is left to flush goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (HopweaveError, OSError, ValueError) as error:
        reason = explain(error) if isinstance(error, ValidationError) else error
        print(f"hopweave: {reason}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hopweave", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"hopweave {hopweave.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    index = _command(commands, "index", _index, "read documents into a knowledge base file", _INDEX_EXAMPLES)
    index.add_argument("path", nargs="+", help="folder of Markdown and text, or a .md, .txt, .jsonl or .csv file")
    index.add_argument("--embedder", default="default", metavar="NAME", help=_EMBEDDER_HELP)
    index.add_argument("--analyzer", action="append", metavar="NAME", help=_ANALYZER_HELP)
    index.add_argument("--graph", action="append", metavar="KIND", help=_GRAPH_HELP)
    index.add_argument("--skip-bad", action="store_true", help="report lines and files that cannot be read, and go on")
    index.add_argument("--batch-size", type=_positive, default=256, metavar="N", help="documents per transaction")
    index.add_argument("--quiet", action="store_true", help="no progress bar and no summary")

    query = _command(commands, "query", _query, "search a knowledge base file", _QUERY_EXAMPLES)
    query.add_argument("question", type=_question, help="what to look for")
    query.add_argument("--recipe", default="hybrid", metavar="NAME", help="a shipped recipe or a YAML file")
    query.add_argument("--top-k", type=_positive, metavar="N", help="how many hits (default: the recipe's)")
    query.add_argument("--filter", action="append", type=_filter, default=[], metavar="FIELD=VALUE", help=_FILTER_HELP)
    query.add_argument("--explain", action="store_true", help="show the receipts: why each hit has its score")
    query.add_argument("--json", action="store_true", help="print the whole result as JSON")

    _command(commands, "check", _check, "verify a knowledge base file", _CHECK_EXAMPLES)

    schema = _command(commands, "schema", _schema, "print the JSON Schema of recipes", _SCHEMA_EXAMPLES, kb=False)
    schema.add_argument("--output", type=Path, metavar="FILE", help="write it there instead")
    return parser


def _command(commands: Any, name: str, run: Any, summary: str, examples: str, *, kb: bool = True) -> Any:
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary[0].upper() + summary[1:] + ".",
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    if kb:
        parser.add_argument("--kb", default=DEFAULT_FILE, metavar="FILE", help=f"the file (default: {DEFAULT_FILE})")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, but got {text!r}")
    return int(text)


def _question(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("must be valid text in the encoding of this terminal") from error
    return text


def _filter(text: str) -> tuple[str, str]:
    field, equals, value = text.partition("=")
    if not field or not equals:
        raise argparse.ArgumentTypeError(f"must look like field=value, but got {text!r}")
    return field, value


def _index(options: argparse.Namespace) -> int:
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


def _query(options: argparse.Namespace) -> int:
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.query import Query

    filters: dict[str, list[Any]] = {}
    for field, value in options.filter:
        filters.setdefault(field, []).extend(_readings(value))
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        query = Query(options.question, filters=filters or None)
        result = kb.search(query, recipe=options.recipe, top_k=options.top_k)
    if options.json:
        print(json.dumps(result.as_dict(), ensure_ascii=False, indent=2))
        return 0
    for name, reason in result.failures.items():
        print(f"hopweave: went on without {name}: {reason}", file=sys.stderr)
    if not result.hits:
        print("no hits")
    for rank, hit in enumerate(result.hits, start=1):
        title = hit.metadata.get("title") or ""
        print(f"{rank:>3}  {_number(hit.score):>8}  {hit.id}{f'  {title}' if title and title != hit.id else ''}")
        print(f"               {_shortened(hit.text)}")
        if options.explain:
            for receipt in hit.receipts:
                details = "  ".join(f"{key}={_shown(value)}" for key, value in receipt.details.items())
                print(f"               · {receipt.stage}: {_number(receipt.after)}  {details}")
    if options.explain:
        steps = ", ".join(f"{step} {1000 * seconds:.1f} ms" for step, seconds in result.timings.items())
        print(f"\n{steps}")
    return 0


def _readings(value: str) -> list[Any]:
    """What was typed, as text and, where it can be one, as a number or truth value."""
    try:
        read = json.loads(value)
    except ValueError:
        return [value]
    return [value, read] if isinstance(read, int | float) else [value]


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(one)}" for key, one in value.items()) + "}"
    return _number(value) if isinstance(value, float) else str(value)


def _shortened(text: str, width: int = 100) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rsplit(" ", 1)[0] + " …"


def _check(options: argparse.Namespace) -> int:
    from hopweave.knowledge_base.store import KnowledgeBase

    try:
        with KnowledgeBase.open(options.kb, read_only=True) as kb:
            problems = kb.check()
            sound = f"{options.kb}: sound, {kb.count()} documents, version {kb.version}"
    except EmptyFile as error:  # as sound as a file that holds nothing can be
        problems, sound = [], str(error)
    print("\n".join(problems) or sound)
    return 1 if problems else 0


def _schema(options: argparse.Namespace) -> int:
    from hopweave.recipe import recipe_schema

    text = json.dumps(recipe_schema(), indent=2, ensure_ascii=False)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    return 0
