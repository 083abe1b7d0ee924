"""`hopweave query`: search a knowledge base file."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import DEFAULT_FILE, RECIPE_HELP, command, field_value, filters_of, positive, seconds
from hopweave.commands.terminal import note, show
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.report.markup import shortened

if TYPE_CHECKING:
    from hopweave.hit import Hit
    from hopweave.knowledge_base.cache import QueryCache
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.pipeline import Pipeline, Result
    from hopweave.search.federated import FederatedPipeline

_EXAMPLES = """\
examples:
  hopweave query "who built the tide gate?"
  hopweave query "tide gate" --top-k 5 --explain
  hopweave query "tide gate" --recipe hybrid
  hopweave query "timetable" --filter type=notice --json
  hopweave query "timetable" --tenant customer=acme
  hopweave query "tide gate" --report gate.html
  hopweave query "tide gate" --kb handbook.db --kb tickets=data/2026.db
  hopweave query - --recipe knowledge --json --cache-seconds 300 < questions.txt
"""
_SKIP_HELP = "leave out rerank, graph, freshness, or a kind of source or stage; may be repeated"
_CACHE_HELP = "with -, keep answers so long for questions that come again (default: no cache)"
_KB_HELP = f"the file (default: {DEFAULT_FILE}); may be repeated: several are searched as one, by NAME or file name"
_FILTER_HELP = "only hits whose metadata has this value; may be repeated"
_TENANT_HELP = "search as if the documents of other tenants did not exist; may be repeated"
_EVERY_TENANT_HELP = "search the documents of all tenants, in a file that only tenants have written"


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    query = command(commands, "query", run, "search a knowledge base file", _EXAMPLES, kb=False)
    query.add_argument("--kb", action="append", metavar="[NAME=]FILE", help=_KB_HELP)
    query.add_argument("question", type=_question, help="the question, or - to read questions, one on each line")
    query.add_argument("--recipe", default=DEFAULT_RECIPE, metavar="NAME", help=RECIPE_HELP)
    query.add_argument("--top-k", type=positive, metavar="N", help="how many hits (default: the recipe's)")
    query.add_argument(
        "--filter", action="append", type=field_value, default=[], metavar="FIELD=VALUE", help=_FILTER_HELP
    )
    whose = query.add_mutually_exclusive_group()
    whose.add_argument(
        "--tenant", action="append", type=field_value, default=[], metavar="FIELD=VALUE", help=_TENANT_HELP
    )
    whose.add_argument("--every-tenant", action="store_true", help=_EVERY_TENANT_HELP)
    query.add_argument("--skip", action="append", default=[], metavar="PART", help=_SKIP_HELP)
    query.add_argument("--explain", action="store_true", help="show the receipts, which explain each score")
    query.add_argument("--scores", action="store_true", help="show the score of every step, with --json as fields")
    query.add_argument("--json", action="store_true", help="print the whole result as JSON")
    query.add_argument("--cache-seconds", type=seconds, metavar="S", help=_CACHE_HELP)
    query.add_argument("--report", type=Path, metavar="FILE", help="write hits, paths and receipts as an HTML page")


def _question(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("must not be empty")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError("must be valid text in the encoding of this terminal") from error
    return text


def run(options: argparse.Namespace) -> int:
    """Search and print the hits, of one question or of each that is read."""
    from hopweave.knowledge_base.cache import QueryCache
    from hopweave.metadata.tenants import every_tenant, tenant
    from hopweave.pipeline import Result
    from hopweave.query import Query
    from hopweave.report.page import html_report

    filters = filters_of(options.filter)
    several = options.question == "-"
    cache = QueryCache[Result](seconds=options.cache_seconds) if options.cache_seconds else None
    with ExitStack() as stack:
        pipeline = _pipeline(options, cache, stack)
        if options.tenant:
            stack.enter_context(tenant(filters_of(options.tenant)))
        if options.every_tenant:
            stack.enter_context(every_tenant())
        for question in _read_questions() if several else [options.question]:
            query = Query(question, filters=filters or None, skip=options.skip)
            result = pipeline.run(query, top_k=options.top_k)
            if options.report:
                options.report.write_text(html_report(result), encoding="utf-8")
            if options.json:
                show(
                    json.dumps(
                        result.as_dict(flat_scores=options.scores), ensure_ascii=False, indent=None if several else 2
                    )
                )
                continue
            if several:
                show(f"? {_line(question)}")
            _show(result, options)
    return 0


def _pipeline(
    options: argparse.Namespace, cache: "QueryCache[Result] | None", stack: ExitStack
) -> "Pipeline | FederatedPipeline":
    """The recipe on the file, or on several; whoever has the stack closes them."""
    from hopweave.pipeline import Pipeline
    from hopweave.recipe import load_recipe
    from hopweave.search.federated import FederatedPipeline

    recipe, given = load_recipe(options.recipe), options.kb or [DEFAULT_FILE]
    files = _by_name(given)
    if len(files) > 1 or recipe.knowledge_bases or list(files.values()) != given:
        opened = {name: _opened(file, options, stack) for name, file in files.items()}
        return FederatedPipeline(recipe, opened, cache=cache)
    return Pipeline(recipe, _opened(given[0], options, stack), cache=cache)


def _opened(file: str, options: argparse.Namespace, stack: ExitStack) -> "KnowledgeBase":
    """A file for reading; an error if it is of tenants and the command does not say whose documents are meant."""
    from hopweave.errors import TenantRequired
    from hopweave.knowledge_base.store import KnowledgeBase

    opened = stack.enter_context(KnowledgeBase.open(file, read_only=True))
    named = {field for field, _ in options.tenant}
    missing = [field for field in opened.tenant_fields if field not in named]
    if missing and not options.every_tenant:
        wanted = " ".join(f"--tenant {field}=..." for field in missing)
        raise TenantRequired(f"{file}: its documents are those of tenants; give {wanted}, or --every-tenant for all")
    return opened


def _by_name(given: Sequence[str]) -> dict[str, str]:
    """Files by the name given before `=`, or else by that of the file; a file may have that sign in its path."""
    files: dict[str, str] = {}
    for text in given:
        name, equals, file = text.partition("=")
        if not equals or Path(text).exists():
            name, file = Path(text).stem, text
        if name in files:
            raise ValueError(f"--kb: {files[name]} and {file} are both called {name!r}; give one as NAME={file}")
        files[name] = file
    return files


def _read_questions() -> Iterator[str]:
    return (line.strip() for line in sys.stdin if line.strip())


def _show(result: "Result", options: argparse.Namespace) -> None:
    for name, reason in result.failures.items():
        note(f"{name} failed and was skipped: {reason}")
    if result.query.intent is not None:
        weights = ", ".join(f"{signal} {_number(share)}" for signal, share in result.query.intent.weights.items())
        show(f"intent {result.query.intent.name}: {weights}")
    if not result.hits:
        show(_why_none(result))
    for rank, hit in enumerate(result.hits, start=1):
        _show_hit(rank, hit, options)
    if options.explain:
        values = result.evidence.as_dict() if result.evidence else {}
        show("\n" + "  ".join(f"{name}={_shown(value)}" for name, value in values.items() if value is not None))
        show(", ".join(f"{step} {1000 * seconds:.1f} ms" for step, seconds in result.timings.items()))


def _show_hit(rank: int, hit: "Hit", options: argparse.Namespace) -> None:
    from hopweave.document import title_of

    key, title = _line(hit.id), _line(title_of(hit.metadata))
    show(f"{rank:>3}  {_number(hit.score):>8}  {key}{f'  {title}' if title and title != key else ''}")
    show(f"               {shortened(_line(hit.text), 100)}")
    if options.scores:
        show("               " + "  ".join(f"{name}={_number(value)}" for name, value in hit.scores.items()))
    if options.explain:
        for receipt in hit.receipts:
            details = "  ".join(f"{key}={_shown(value)}" for key, value in receipt.details.items())
            show(f"               · {receipt.stage}: {_number(receipt.after)}  {details}")


def _why_none(result: "Result") -> str:
    if result.emptied_by is None:
        return "no hits"
    return f"no hits: {result.emptied_by} dropped all that was found; confidence {_number(result.confidence)}"


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:.4g}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(one)}" for key, one in value.items()) + "}"
    return _number(value) if isinstance(value, float) else _line(value)


def _line(value: Any) -> str:
    return " ".join(str(value).split())
