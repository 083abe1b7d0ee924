"""`hopweave diagnose`: report on a corpus, or with judged queries which questions recipes fail, and why."""

import argparse
import json
from typing import Any

from hopweave.commands.arguments import RECIPE_HELP, command, positive
from hopweave.commands.evaluation.evaluate import add_judging, judging, warn
from hopweave.commands.terminal import show
from hopweave.recipes import DEFAULT_RECIPE

_EXAMPLES = """\
examples:
  hopweave diagnose --kb corpus.db
  hopweave diagnose queries.jsonl --kb corpus.db --recipe multihop
  hopweave diagnose queries.jsonl --recipe hybrid --recipe multihop --top-k 5 --json

Without queries, the report is about the corpus: titles, names that connect passages, whether the embedder knows its
language, and what would help. The sample and up to 800 other passages are embedded again for it; the file is only read.

With queries, the report gives for each relevant document that is not among the first hits the reason: not stored,
filtered, ranked low, or not reached from any seed of the graph. Then it lists how much each source adds and which could
be left out, and the recall of every subset of the sources: a few that differ may beat many that rank alike.
"""
_WITH_QUERIES = {"recipe": "--recipe", "top_k": "--top-k", "strict": "--strict"}
_WITHOUT_QUERIES = {"sample": "--sample"}


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    summary = "report what would help a corpus, or which questions recipes fail, and why"
    parser = command(commands, "diagnose", run, summary, _EXAMPLES)
    add_judging(parser, optional="; without them, the report is about the corpus")
    parser.add_argument("--recipe", action="append", metavar="NAME", help=f"{RECIPE_HELP}; may be repeated")
    parser.add_argument("--top-k", type=positive, metavar="N", help="how many hits count (default: 10)")
    parser.add_argument(
        "--sample", type=positive, metavar="N", help="without queries: passages to test the embedder on (default: 200)"
    )
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")


def run(options: argparse.Namespace) -> int:
    """Diagnose and print the report."""
    unused, why = (_WITHOUT_QUERIES, "is for a corpus without") if options.queries else (_WITH_QUERIES, "needs")
    if given := [flag for name, flag in unused.items() if getattr(options, name)]:
        raise ValueError(f"{given[0]} {why} judged queries")
    return _run_judged(options) if options.queries else _run_corpus(options)


def _run_corpus(options: argparse.Namespace) -> int:
    from hopweave.evaluate.corpus import diagnose_corpus
    from hopweave.knowledge_base.store import KnowledgeBase

    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        report = diagnose_corpus(kb, options.sample or 200, options.seed)
    show(json.dumps(report.as_dict(), ensure_ascii=False, indent=2) if options.json else report)
    return 0


def _run_judged(options: argparse.Namespace) -> int:
    from hopweave.evaluate.diagnose import diagnose
    from hopweave.evaluate.queries import read_queries
    from hopweave.knowledge_base.store import KnowledgeBase

    judged = read_queries(options.queries)
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        found = [
            diagnose(kb, recipe, judged, top_k=options.top_k or 10, judging=judging(options))
            for recipe in options.recipe or [DEFAULT_RECIPE]
        ]
    warn(found[0].warnings)
    if options.json:
        show(json.dumps({"recipes": [one.as_dict() for one in found]}, ensure_ascii=False, indent=2))
    else:
        show("\n\n".join(map(str, found)))
    return 0
