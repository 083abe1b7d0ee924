"""Commands that work with judged queries: evaluate, compare, tune, diagnose."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopweave.commands.arguments import RECIPE_HELP, command, opened, positive
from hopweave.commands.terminal import note, show
from hopweave.evaluate.metrics import DEFAULT_MEASURES, Judging
from hopweave.recipes import DEFAULT_RECIPE

if TYPE_CHECKING:
    from hopweave.evaluate.queries import EvaluationQuery

_MEASURE_HELP = "recall@K, precision@K, all_gold@K, mrr@K or ndcg@K; may be repeated (default: {})"

_EVALUATE_EXAMPLES = """\
examples:
  hopweave evaluate queries.jsonl --kb corpus.db --recipe hybrid --recipe multihop
  hopweave evaluate queries.jsonl --recipe multihop --sources --markdown
  hopweave evaluate queries.jsonl --measure recall@5 --measure all_gold@8 --json --per-query answers.jsonl

Each line of queries.jsonl has a "question" and "gold", the ids of the relevant documents; an item of gold that is
itself a list is satisfied by any of its ids. Optional: "id", "filters", "tenant", "now". ± is half the 95 % interval.
"""


def add_evaluate(commands: Any) -> None:
    """Declare `hopweave evaluate`."""
    parser = command(commands, "evaluate", _evaluate, "evaluate recipes on judged queries", _EVALUATE_EXAMPLES)
    _add_judging(parser)
    parser.add_argument("--recipe", action="append", metavar="NAME", help=f"{RECIPE_HELP}; may be repeated")
    _add_measures(parser)
    parser.add_argument("--sources", action="store_true", help="also evaluate each source of the recipes alone")
    parser.add_argument("--by-intent", action="store_true", help="one row for each intent of the questions")
    parser.add_argument("--json", action="store_true", help="print the metrics as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    parser.add_argument("--per-query", type=Path, metavar="FILE", help="write the result of each query, as JSON Lines")


def _evaluate(options: argparse.Namespace) -> int:
    """Evaluate and print the table."""
    from hopweave.evaluate.evaluate import evaluate

    judged = _judged(options)
    with opened(options.kb, read_only=True) as kb:
        report = evaluate(
            kb,
            options.recipe or [DEFAULT_RECIPE],
            judged,
            measures=options.measure or DEFAULT_MEASURES,
            judging=_judging(options),
            sources=options.sources,
            seed=options.seed,
        )
    _warn(report.warnings)
    if options.per_query:
        lines = (line for one in report.evaluations for line in one.per_query())
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        options.per_query.write_text(text, encoding="utf-8")
    if options.by_intent:
        report = report.by_intent()
    return _shown(report, options)


_COMPARE_EXAMPLES = """\
examples:
  hopweave compare queries.jsonl hybrid multihop --kb corpus.db
  hopweave compare queries.jsonl multihop tuned.yaml --measure recall@5 --json

The first measure decides; a paired permutation test gives the significance of the difference.
"""


def add_compare(commands: Any) -> None:
    """Declare `hopweave compare`."""
    parser = command(commands, "compare", _compare, "test whether one recipe is better than another", _COMPARE_EXAMPLES)
    _add_judging(parser)
    parser.add_argument("first", help="a shipped recipe or a YAML file")
    parser.add_argument("second", help="the recipe to compare with it")
    _add_measures(parser)
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")


def _compare(options: argparse.Namespace) -> int:
    """Compare and print the verdict."""
    from hopweave.evaluate.compare import compare

    judged = _judged(options)
    with opened(options.kb, read_only=True) as kb:
        comparison = compare(
            kb,
            options.first,
            options.second,
            judged,
            measures=options.measure or DEFAULT_MEASURES,
            judging=_judging(options),
            seed=options.seed,
        )
    _warn(comparison.warnings)
    return _shown(comparison, options)


_TUNE_EXAMPLES = """\
examples:
  hopweave tune queries.jsonl --kb corpus.db --recipe multihop --output tuned.yaml
  hopweave tune queries.jsonl --parameter fuse.weights.graph --parameter sources.graph.restart=0.05:0.5
  hopweave tune queries.jsonl --recipe knowledge --parameter intent.weights.debugging
  hopweave tune queries.jsonl --recipe mine.yaml --parameter stages.0.weight --measure recall@5 --trials 200

Without --parameter, the weights of the fuser and every float with a lower and an upper bound are tuned; if the fuser
goes by the intent of a question, the weights of each intent that at least 5 queries have. The gain is
measured on held-out queries. If it is within noise, the output is the starting recipe.
"""


def add_tune(commands: Any) -> None:
    """Declare `hopweave tune`."""
    parser = command(commands, "tune", _tune, "tune the parameters of a recipe on judged queries", _TUNE_EXAMPLES)
    _add_judging(parser)
    parser.add_argument("--recipe", default=DEFAULT_RECIPE, metavar="NAME", help=RECIPE_HELP)
    parser.add_argument(
        "--parameter", action="append", metavar="PATH", help="parameter to tune: path or path=low:high; may be repeated"
    )
    parser.add_argument("--measure", default="ndcg@10", metavar="NAME", help="measure to improve (default: ndcg@10)")
    parser.add_argument("--trials", type=positive, default=50, metavar="N", help="trials per search (default: 50)")
    parser.add_argument("--held-out", type=float, metavar="SHARE", help="share of the queries to test on")
    parser.add_argument("--accept", action="store_true", help="use the tuned recipe even if it is not better")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the recipe there, as YAML")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _tune(options: argparse.Namespace) -> int:
    """Tune, print the result, and write the recipe."""
    from tqdm import tqdm

    from hopweave.tune.tune import searches, tune

    judged = _judged(options)
    total = options.trials * searches(len(judged), options.held_out)
    with (
        opened(options.kb, read_only=True) as kb,
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
            judging=_judging(options),
            seed=options.seed,
            progress=bar.update,
        )
    _warn(tuning.warnings)
    if options.output:
        options.output.write_text(tuning.to_yaml(), encoding="utf-8")
    return _shown(tuning, options)


_DIAGNOSE_EXAMPLES = """\
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


def add_diagnose(commands: Any) -> None:
    """Declare `hopweave diagnose`."""
    summary = "report what would help a corpus, or which questions recipes fail, and why"
    parser = command(commands, "diagnose", _diagnose, summary, _DIAGNOSE_EXAMPLES)
    _add_judging(parser, optional="; without them, the report is about the corpus")
    parser.add_argument("--recipe", action="append", metavar="NAME", help=f"{RECIPE_HELP}; may be repeated")
    parser.add_argument("--top-k", type=positive, metavar="N", help="how many hits count (default: 10)")
    parser.add_argument(
        "--sample", type=positive, metavar="N", help="without queries: passages to test the embedder on (default: 200)"
    )
    parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")


def _diagnose(options: argparse.Namespace) -> int:
    """Diagnose and print the report."""
    unused, why = (_WITHOUT_QUERIES, "is for a corpus without") if options.queries else (_WITH_QUERIES, "needs")
    if given := [flag for name, flag in unused.items() if getattr(options, name)]:
        raise ValueError(f"{given[0]} {why} judged queries")
    return _diagnose_judged(options) if options.queries else _diagnose_corpus(options)


def _diagnose_corpus(options: argparse.Namespace) -> int:
    from hopweave.evaluate.corpus import diagnose_corpus

    with opened(options.kb, read_only=True) as kb:
        return _shown(diagnose_corpus(kb, options.sample or 200, options.seed), options)


def _diagnose_judged(options: argparse.Namespace) -> int:
    from hopweave.evaluate.diagnose import diagnose

    judged = _judged(options)
    with opened(options.kb, read_only=True) as kb:
        found = [
            diagnose(kb, recipe, judged, top_k=options.top_k or 10, judging=_judging(options))
            for recipe in options.recipe or [DEFAULT_RECIPE]
        ]
    _warn(found[0].warnings)
    if options.json:
        show(json.dumps({"recipes": [one.as_dict() for one in found]}, ensure_ascii=False, indent=2))
    else:
        show("\n\n".join(map(str, found)))
    return 0


def _add_judging(parser: argparse.ArgumentParser, *, optional: str = "") -> None:
    """Add the arguments of all commands that use judged queries; `optional` says what is done without any."""
    parser.add_argument("queries", nargs="?" if optional else None, help=f"judged queries, as JSON Lines{optional}")
    parser.add_argument("--strict", action="store_true", help="count only the first id of each class in gold")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="random seed (default: 0)")


def _add_measures(parser: argparse.ArgumentParser) -> None:
    """Add the argument for the measures."""
    listed = ", ".join(DEFAULT_MEASURES)
    parser.add_argument("--measure", action="append", metavar="NAME", help=_MEASURE_HELP.format(listed))


def _judged(options: argparse.Namespace) -> "list[EvaluationQuery]":
    """The judged queries that the options name."""
    from hopweave.evaluate.queries import read_queries

    return read_queries(options.queries)


def _judging(options: argparse.Namespace) -> Judging:
    """The kind of judging that the options ask for."""
    return "strict" if options.strict else "classes"


def _shown(found: Any, options: argparse.Namespace) -> int:
    """Print a report as text, as JSON or in Markdown."""
    if options.json:
        show(json.dumps(found.as_dict(), ensure_ascii=False, indent=2))
    else:
        show(found.to_markdown() if getattr(options, "markdown", False) else found)
    return 0


def _warn(warnings: Sequence[str]) -> None:
    """Print warnings about the reliability of the figures to the error stream."""
    for warning in warnings:
        note(f"warning: {warning}")
