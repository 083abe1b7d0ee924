"""What tuning on a few judged queries does to the queries it has not seen.

    python benchmarks/tuning.py [--set musique100|2wiki51] [--queries 30] [--trials 30] [--recipe multihop] [--json]

Needs the folder HOPWEAVE_DATA. Tunes on the first queries of a set with the static embedder and measures on all others:
once from the recipe as it is, all that can be tuned by default, and once from equal weights of its sources, the weights
alone. Figures are means over the queries not tuned on: `before` is the starting recipe, `candidate` that with the best
numbers of the search, `output` the one that tuning hands out, which is the starting one while the gain is within noise;
`p` is the p-value of before against candidate.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from time import perf_counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")
sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack

from judging import SETS, JudgedSet

from hopweave import KnowledgeBase, load_recipe
from hopweave.evaluate import table
from hopweave.evaluate.evaluate import evaluate_one
from hopweave.evaluate.significance import paired_difference
from hopweave.tune.search_space import with_values
from hopweave.tune.tune import tune

MEASURES = ("recall@5", "ndcg@10")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=SETS, default="musique100")
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--recipe", default="multihop")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    folder = os.environ.get("HOPWEAVE_DATA")
    if folder is None:
        parser.error("set HOPWEAVE_DATA")
    corpus, queries, _ = SETS[options.set]
    data = JudgedSet.read(Path(folder) / corpus, Path(folder) / queries)
    recipe = load_recipe(options.recipe)
    weights = [f"fuse.weights.{name}" for name in recipe.sources]
    starts = {
        "as shipped": (recipe, None),
        "equal weights": (with_values(recipe, dict.fromkeys(weights, 1.0)), weights),
    }
    with KnowledgeBase.open() as kb:
        kb.add(data.documents)
        results = {
            name: measure(kb, start, data.questions, options.queries, parameters, options.trials)
            for name, (start, parameters) in starts.items()
        }
    print(json.dumps(results) if options.json else shown(results))


def measure(kb, start, questions, count, parameters, trials):
    seen, unseen = questions[:count], questions[count:]
    started = perf_counter()
    tuning = tune(kb, start, seen, parameters=parameters, trials=trials)
    seconds = perf_counter() - started
    recipes = {"before": tuning.start, "candidate": tuning.candidate, "output": tuning.recipe}
    found = {name: evaluate_one(kb, recipe, unseen, measures=MEASURES) for name, recipe in recipes.items()}
    return {
        "unseen": {
            one: {
                **{name: round(evaluation.mean(one), 4) for name, evaluation in found.items()},
                "p": round(paired_difference(found["before"].scores[one], found["candidate"].scores[one]).p_value, 4),
            }
            for one in MEASURES
        },
        "held_out_gain": round(tuning.difference.mean, 4),
        "held_out_p": round(tuning.difference.p_value, 4),
        "accepted": tuning.accepted,
        "verdict": tuning.verdict,
        "values": dict(tuning.values),
        "seconds": round(seconds, 1),
    }


def shown(results):
    heads = ["start", "measure", "before", "candidate", "p", "output"]
    rows = [
        [start, one, *(str(figures[name]) for name in heads[2:])]
        for start, result in results.items()
        for one, figures in result["unseen"].items()
    ]
    verdicts = [f"{start}: {result['verdict']}" for start, result in results.items()]
    return "\n".join([table.plain(heads, rows), "", *verdicts])


if __name__ == "__main__":
    main()
