"""`hopweave compare`: compare two recipes, with a significance test."""

import argparse
import json
from typing import Any

from hopweave.commands.arguments import command
from hopweave.commands.evaluation.evaluate import add_judging, add_measures, judging, warn
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave compare queries.jsonl hybrid multihop --kb corpus.db
  hopweave compare queries.jsonl multihop tuned.yaml --measure recall@5 --json

The first measure decides; a paired permutation test gives the significance of the difference.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "compare", run, "test whether one recipe is better than another", _EXAMPLES)
    add_judging(parser)
    parser.add_argument("first", help="a shipped recipe or a YAML file")
    parser.add_argument("second", help="the recipe to compare with it")
    add_measures(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")


def run(options: argparse.Namespace) -> int:
    """Compare and print the verdict."""
    from hopweave.evaluate.compare import compare
    from hopweave.evaluate.metrics import DEFAULT_MEASURES
    from hopweave.evaluate.queries import read_queries
    from hopweave.knowledge_base.store import KnowledgeBase

    judged = read_queries(options.queries)
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        comparison = compare(
            kb,
            options.first,
            options.second,
            judged,
            measures=options.measure or DEFAULT_MEASURES,
            judging=judging(options),
            seed=options.seed,
        )
    warn(comparison.warnings)
    if options.json:
        show(json.dumps(comparison.as_dict(), ensure_ascii=False, indent=2))
    else:
        show(comparison.to_markdown() if options.markdown else comparison)
    return 0
