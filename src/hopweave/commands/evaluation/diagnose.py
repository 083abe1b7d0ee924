"""`hopweave diagnose`: report which questions recipes fail, and why."""

import argparse
import json
from typing import Any

from hopweave.commands.arguments import command, positive
from hopweave.commands.evaluation.evaluate import add_judging, judging, warn
from hopweave.commands.terminal import show

_EXAMPLES = """\
examples:
  hopweave diagnose queries.jsonl --kb corpus.db --recipe multihop
  hopweave diagnose queries.jsonl --recipe hybrid --recipe multihop --top-k 5 --json

For each relevant document that is not among the first hits, the report gives the reason: not stored, filtered, ranked
low, or not reached from any seed of the graph. Then it lists how much each source adds and which could be left out, and
the recall of every subset of the sources: a few that differ may beat many that rank alike.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "diagnose", run, "report which questions recipes fail, and why", _EXAMPLES)
    add_judging(parser)
    parser.add_argument(
        "--recipe", action="append", metavar="NAME", help="a shipped recipe or a YAML file; may be repeated"
    )
    parser.add_argument("--top-k", type=positive, default=10, metavar="N", help="how many hits count (default: 10)")
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")


def run(options: argparse.Namespace) -> int:
    """Diagnose and print the report."""
    from hopweave.evaluate.diagnose import diagnose
    from hopweave.evaluate.queries import read_queries
    from hopweave.knowledge_base.store import KnowledgeBase

    judged = read_queries(options.queries)
    with KnowledgeBase.open(options.kb, read_only=True) as kb:
        found = [
            diagnose(kb, recipe, judged, top_k=options.top_k, judging=judging(options))
            for recipe in options.recipe or ["hybrid"]
        ]
    warn(found[0].warnings)
    if options.json:
        show(json.dumps({"recipes": [one.as_dict() for one in found]}, ensure_ascii=False, indent=2))
    else:
        show("\n\n".join(map(str, found)))
    return 0
