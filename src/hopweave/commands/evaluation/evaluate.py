"""`hopweave evaluate`: evaluate recipes on judged queries."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import RECIPE_HELP, command
from hopweave.commands.terminal import note, show
from hopweave.recipes import DEFAULT_RECIPE

if TYPE_CHECKING:
    from hopweave.evaluate.metrics import Judging

_EXAMPLES = """\
examples:
  hopweave evaluate queries.jsonl --kb corpus.db --recipe hybrid --recipe multihop
  hopweave evaluate queries.jsonl --recipe multihop --sources --markdown
  hopweave evaluate queries.jsonl --measure recall@5 --measure all_gold@8 --json --per-query answers.jsonl

Each line of queries.jsonl has a "question" and "gold", the ids of the relevant documents; an item of gold that is
itself a list is satisfied by any of its ids. Optional: "id", "filters", "tenant", "now". ± is half the 95 % interval.
"""
_MEASURE_HELP = "recall@K, precision@K, all_gold@K, mrr@K or ndcg@K; may be repeated (default: {})"


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "evaluate", run, "evaluate recipes on judged queries", _EXAMPLES)
    add_judging(parser)
    parser.add_argument("--recipe", action="append", metavar="NAME", help=f"{RECIPE_HELP}; may be repeated")
    add_measures(parser)
    parser.add_argument("--sources", action="store_true", help="also evaluate each source of the recipes alone")
    parser.add_argument("--by-intent", action="store_true", help="one row for each intent of the questions")
    parser.add_argument("--json", action="store_true", help="print the metrics as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--per-query", type=Path, metavar="FILE", help="write the result of each query, as JSON Lines")


def add_judging(parser: argparse.ArgumentParser, *, optional: str = "") -> None:
    """Add the arguments of all commands that use judged queries; `optional` says what is done without any."""
    parser.add_argument("queries", nargs="?" if optional else None, help=f"judged queries, as JSON Lines{optional}")
    parser.add_argument("--strict", action="store_true", help="count only the first id of each class in gold")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def add_measures(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the measures."""
    from hopweave.evaluate.metrics import DEFAULT_MEASURES

    listed = ", ".join(DEFAULT_MEASURES)
    parser.add_argument("--measure", action="append", metavar="NAME", help=_MEASURE_HELP.format(listed))


def judging(options: argparse.Namespace) -> "Judging":
    """The kind of judging that the options ask for."""
    return "strict" if options.strict else "classes"


def warn(warnings: Sequence[str]) -> None:
    """Print warnings about the reliability of the figures to the error stream."""
    for warning in warnings:
        note(f"warning: {warning}")


def run(options: argparse.Namespace) -> int:
    """Evaluate and print the table."""
    from hopweave.evaluate.evaluate import evaluate
    from hopweave.evaluate.metrics import DEFAULT_MEASURES
    from hopweave.evaluate.queries import read_queries
    from hopweave.knowledge_base.store import KnowledgeBase

    judged = read_queries(options.queries)
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        report = evaluate(
            kb,
            options.recipe or [DEFAULT_RECIPE],
            judged,
            measures=options.measure or DEFAULT_MEASURES,
            judging=judging(options),
            sources=options.sources,
            seed=options.seed,
        )
    warn(report.warnings)
    if options.per_query:
        lines = (line for one in report.evaluations for line in one.per_query())
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        options.per_query.write_text(text, encoding="utf-8")
    if options.by_intent:
        report = report.by_intent()
    if options.json:
        show(json.dumps(report.as_dict(), ensure_ascii=False, indent=2))
    else:
        show(report.to_markdown() if options.markdown else report)
    return 0
