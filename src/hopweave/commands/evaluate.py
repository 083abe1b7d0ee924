"""`hopweave evaluate`: how well recipes answer judged queries."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import command

if TYPE_CHECKING:
    from hopweave.measure.metrics import Judging

_EXAMPLES = """\
examples:
  hopweave evaluate queries.jsonl --kb corpus.db --recipe hybrid --recipe multihop
  hopweave evaluate queries.jsonl --recipe multihop --sources --markdown
  hopweave evaluate queries.jsonl --measure recall@5 --measure all_gold@8 --json --per-query answers.jsonl

Each line of queries.jsonl has a "question" and "gold", the ids of what answers it; an item of gold that is itself a
list is satisfied by any of its ids. Optional: "id", "filters", "tenant", "asked_at". ± is half the 95 % interval.
"""
_MEASURE_HELP = "recall@K, all_gold@K, mrr@K or ndcg@K; may be repeated (default: {})"


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "evaluate", run, "measure recipes on judged queries", _EXAMPLES)
    add_judging(parser)
    parser.add_argument(
        "--recipe", action="append", metavar="NAME", help="a shipped recipe or a YAML file; may be repeated"
    )
    add_measures(parser)
    parser.add_argument("--sources", action="store_true", help="also measure each source of the recipes by itself")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--per-query", type=Path, metavar="FILE", help="write what became of each query, as JSON Lines")


def add_judging(parser: argparse.ArgumentParser) -> None:
    """The arguments of everything that works with judged queries."""
    parser.add_argument("queries", help="judged queries, as JSON Lines")
    parser.add_argument("--strict", action="store_true", help="of each class in gold, only the first id counts")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all that is drawn (default: 0)")


def add_measures(parser: argparse.ArgumentParser) -> None:
    """The argument that names measures."""
    from hopweave.measure.metrics import DEFAULT_MEASURES

    listed = ", ".join(DEFAULT_MEASURES)
    parser.add_argument("--measure", action="append", metavar="NAME", help=_MEASURE_HELP.format(listed))


def judging(options: argparse.Namespace) -> "Judging":
    """How gold is to be read."""
    return "strict" if options.strict else "classes"


def warn(warnings: Sequence[str]) -> None:
    """Say on the terminal what speaks against the figures."""
    for warning in warnings:
        print(f"hopweave: warning: {warning}", file=sys.stderr)


def run(options: argparse.Namespace) -> int:
    """Measure and show the table."""
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.measure.evaluate import evaluate
    from hopweave.measure.judged import read_judged
    from hopweave.measure.metrics import DEFAULT_MEASURES

    judged = read_judged(options.queries)
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        report = evaluate(
            kb,
            options.recipe or ["hybrid"],
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
    if options.json:
        print(json.dumps(report.as_dict(), ensure_ascii=False, indent=2))
    else:
        print(report.to_markdown() if options.markdown else report)
    return 0
