"""`hopweave tune`: tune the parameters of a recipe on judged queries."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from hopweave.commands.arguments import RECIPE_HELP, command, positive
from hopweave.commands.evaluation.evaluate import add_judging, judging, warn
from hopweave.commands.terminal import show
from hopweave.recipes import DEFAULT_RECIPE

_EXAMPLES = """\
examples:
  hopweave tune queries.jsonl --kb corpus.db --recipe multihop --output tuned.yaml --report tuned.html
  hopweave tune queries.jsonl --parameter fuse.weights.graph --parameter sources.graph.restart=0.05:0.5
  hopweave tune queries.jsonl --recipe knowledge --parameter intent.weights.debugging
  hopweave tune queries.jsonl --recipe mine.yaml --parameter stages.0.weight --measure recall@5 --trials 200

Without --parameter, the weights of the fuser and every float with a lower and an upper bound are tuned; if the fuser
goes by the intent of a question, the weights of each intent that at least 5 queries have. The gain is
measured on held-out queries. If it is within noise, the output is the starting recipe.
"""


def add_to(commands: Any) -> None:
    """Declare the command and its arguments."""
    parser = command(commands, "tune", run, "tune the parameters of a recipe on judged queries", _EXAMPLES)
    add_judging(parser)
    parser.add_argument("--recipe", default=DEFAULT_RECIPE, metavar="NAME", help=RECIPE_HELP)
    parser.add_argument(
        "--parameter", action="append", metavar="PATH", help="parameter to tune: path or path=low:high; may be repeated"
    )
    parser.add_argument("--measure", default="ndcg@10", metavar="NAME", help="measure to improve (default: ndcg@10)")
    parser.add_argument("--trials", type=positive, default=50, metavar="N", help="trials per search (default: 50)")
    parser.add_argument("--held-out", type=float, metavar="SHARE", help="share of the queries to test on")
    parser.add_argument("--accept", action="store_true", help="use the tuned recipe even if it is not better")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the recipe there, as YAML")
    parser.add_argument("--report", type=Path, metavar="FILE", help="write a report with plots there, as HTML")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    """Tune, print the result, and write recipe and report."""
    from tqdm import tqdm

    from hopweave.evaluate.queries import read_queries
    from hopweave.knowledge_base.store import KnowledgeBase
    from hopweave.tune.report import tuning_report
    from hopweave.tune.tune import searches, tune

    judged = read_queries(options.queries)
    total = options.trials * searches(len(judged), options.held_out)
    with (
        KnowledgeBase.open(options.kb, read_only=True) as kb,
        tqdm(total=total, unit=" trials", disable=None, file=sys.stderr) as bar,  # None: only on a terminal
    ):
        tuning = tune(
            kb,
            options.recipe,
            judged,
            parameters=options.parameter,
            measure=options.measure,
            trials=options.trials,
            held_out=options.held_out,
            accept=options.accept,
            judging=judging(options),
            seed=options.seed,
            progress=bar.update,
        )
    warn(tuning.warnings)
    if options.output:
        options.output.write_text(tuning.to_yaml(), encoding="utf-8")
    if options.report:
        options.report.write_text(tuning_report(tuning), encoding="utf-8")
    show(json.dumps(tuning.as_dict(), ensure_ascii=False, indent=2) if options.json else tuning)
    return 0
