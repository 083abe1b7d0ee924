"""Does `result.confidence` tell whether the answer was found? Fitted on some judged sets, measured on the others.

    python benchmarks/confidence.py [FOLDER] [--embedder static|minilm|both] [--recipes NAME ...] [--plot FILE] [--json]

FOLDER (or HOPWEAVE_DATA) holds the sets as for `generalise.py`. Up to 100 questions of a set are asked twice, with
their gold passages in the corpus and with these passages removed, and 60 questions of other sets are asked as well. The
constants are fitted by logistic regression, every set weighing the same, to the event that all gold passages are among
the first 10 hits. Figures of a set come from constants fitted on all other sets: its own judgements are never used for
them. `fitted` has the constants from all sets, which `hopweave.stages.filter.confidence` holds. AUROC is the
probability that a question whose passages are there gets a higher confidence than one whose passages are not; the
calibration error compares the mean confidence with the share of answered questions in ten bins.
"""

import argparse
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from generalise import document, judged_sets, read
from scipy.optimize import minimize
from scipy.stats import rankdata
from vectors import EMBEDDERS, RememberedVectors

from hopweave import KnowledgeBase, Pipeline
from hopweave.evaluate.queries import read_queries
from hopweave.stages.filter.confidence import FORMULA, Features, confidence
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold

SHARES = {"present": 0.5, "removed": 0.25, "foreign": 0.25}
QUESTIONS, FOREIGN, TOP_K, BINS = 100, 60, 10, 10
RIDGE = 1e-3


class Asked(NamedTuple):
    """One question asked of one corpus, and whether all its gold passages are among the first hits."""

    name: str
    configuration: str
    way: str
    features: Features
    answered: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("HOPWEAVE_DATA"))
    parser.add_argument("--embedder", choices=[*EMBEDDERS, "both"], default="both")
    parser.add_argument("--recipes", nargs="*", default=["multihop", "hybrid"])
    parser.add_argument("--plot", type=Path, help="write the calibration as an SVG file")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("give the folder of the judged sets, or set HOPWEAVE_DATA")
    sets = judged_sets(Path(options.folder))
    embedders = list(EMBEDDERS) if options.embedder == "both" else [options.embedder]
    asked = [one for embedder in embedders for name in sets for one in ask(sets, name, embedder, options.recipes)]
    results = measure(asked)
    if options.plot:
        from plots import draw_calibration

        draw_calibration(results["calibration"], options.plot)
    print(json.dumps(results) if options.json else table(results))


def ask(sets: dict[str, tuple[Path, Path]], name: str, embedder: str, recipes: list[str]) -> Iterator[Asked]:
    """All questions of a set in all three ways."""
    chance = random.Random(7)
    judged = {one: read_queries(queries) for one, (_, queries) in sets.items()}
    own = chance.sample(judged[name], min(QUESTIONS, len(judged[name])))
    foreign = chance.sample([one for other in sets if other != name for one in judged[other]], FOREIGN)
    documents = {one.id: one for one in map(document, read(sets[name][0]))}
    with KnowledgeBase.open(embedder=RememberedVectors(EMBEDDERS[embedder]())) as kb:
        kb.add(documents.values())
        pipelines = {f"{recipe}, {embedder}": Pipeline(recipe, kb) for recipe in recipes}
        yield from found(pipelines, name, "present", own)
        yield from found(pipelines, name, "foreign", foreign)
        for one in own:
            gold = [key for group in one.qrels for key in group if key in documents]
            kb.delete(gold)
            yield from found(pipelines, name, "removed", [one])
            kb.add([documents[key] for key in gold])


def found(pipelines: dict[str, Pipeline], name: str, way: str, questions: list[Any]) -> Iterator[Asked]:
    for configuration, pipeline in pipelines.items():
        for one in questions:
            hits = pipeline.find(one.query, top_k=TOP_K).hits
            first = {hit.id for hit in hits[:TOP_K]}
            answered = way == "present" and all(first & set(group) for group in one.qrels)
            yield Asked(name, configuration, way, confidence(hits, one.query.text).features, answered)


def measure(asked: list[Asked]) -> dict[str, Any]:
    """Figures of each set from constants fitted on the others; the constants fitted on all."""
    values = np.array([[np.nan if one is None else one for one in row.features] for row in asked])
    answered = np.array([row.answered for row in asked], float)
    names, ways = (np.array([getattr(row, field) for row in asked]) for field in ("name", "way"))
    configurations = np.array([row.configuration for row in asked])
    weights = weighted(names, ways, configurations)
    probability = np.zeros(len(asked))
    for name in sorted(set(names)):
        others, here = names != name, names == name
        intercept, slopes, means = fitted(values[others], answered[others], weights[others])
        probability[here] = predicted(values[here], intercept, slopes, means)
    level = ConfidenceThreshold().min_confidence
    results: dict[str, Any] = {}
    for configuration in dict.fromkeys(configurations):
        rows = results.setdefault(configuration, {})
        for name in sorted(set(names)):
            mine = (configurations == configuration) & (names == name)
            way = {one: mine & (ways == one) for one in SHARES}
            rows[name] = {
                "auroc_removed": auroc(probability[way["present"]], probability[way["removed"]]),
                "auroc_foreign": auroc(probability[way["present"]], probability[way["foreign"]]),
                "calibration_error": calibration_error(probability[mine], answered[mine], weights[mine]),
                "answered": float(answered[way["present"]].mean()),
                "answered_and_withheld": float((probability[way["present"] & (answered > 0)] < level).mean()),
                "removed_and_withheld": float((probability[way["removed"]] < level).mean()),
                "foreign_and_withheld": float((probability[way["foreign"]] < level).mean()),
            }
        mine = configurations == configuration
        rows["all"] = {"calibration_error": calibration_error(probability[mine], answered[mine], weights[mine])}
    intercept, slopes, means = fitted(values, answered, weights)
    return {
        "leave_one_set_out": rounded(results),
        "fitted": rounded({"intercept": intercept, "weights": list(slopes), "means": list(means)}),
        "shipped": {"intercept": FORMULA.intercept, "weights": FORMULA.weights, "means": FORMULA.means},
        "calibration": rounded(bins(probability, answered, weights)),
    }


def weighted(names: np.ndarray, ways: np.ndarray, configurations: np.ndarray) -> np.ndarray:
    """Weights by which every set in every configuration counts the same, and in it every way as in `SHARES`."""
    keys = [f"{one}|{way}|{configuration}" for one, way, configuration in zip(names, ways, configurations, strict=True)]
    sizes = {key: keys.count(key) for key in set(keys)}
    return np.array([SHARES[way] / sizes[key] for key, way in zip(keys, ways, strict=True)])


def fitted(values: np.ndarray, answered: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Intercept, weights and means of a logistic regression; a value that is not known counts as the mean."""
    known = ~np.isnan(values)
    means = np.array(
        [np.average(column[there], weights=weights[there]) for column, there in zip(values.T, known.T, strict=True)]
    )
    columns = np.column_stack([np.where(known, values, means), np.ones(len(values))])
    shares = weights / weights.sum()

    def loss(constants: np.ndarray) -> tuple[float, np.ndarray]:
        logits = columns @ constants
        slope = columns.T @ (shares * (1 / (1 + np.exp(-logits)) - answered))
        slopes = np.append(constants[:-1], 0.0)
        log_loss = shares @ (np.logaddexp(0, logits) - answered * logits)
        return log_loss + RIDGE * slopes @ slopes, slope + 2 * RIDGE * slopes

    constants = minimize(loss, np.zeros(columns.shape[1]), jac=True).x
    return float(constants[-1]), constants[:-1], means


def predicted(values: np.ndarray, intercept: float, slopes: np.ndarray, means: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-(np.where(np.isnan(values), means, values) @ slopes + intercept)))


def auroc(positive: np.ndarray, negative: np.ndarray) -> float:
    """The probability that a positive is above a negative; ties count half."""
    ranks = rankdata(np.concatenate([positive, negative]))[: len(positive)]
    return float((ranks.sum() - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative)))


def bins(probability: np.ndarray, answered: np.ndarray, weights: np.ndarray) -> list[dict[str, float]]:
    """Mean confidence and share of answered questions in each of ten bins, with its share of all questions."""
    places = np.minimum((probability * BINS).astype(int), BINS - 1)
    return [
        {
            "confidence": float(np.average(probability[here], weights=weights[here])),
            "answered": float(np.average(answered[here], weights=weights[here])),
            "share": float(weights[here].sum() / weights.sum()),
        }
        for here in (places == place for place in range(BINS))
        if here.any()
    ]


def calibration_error(probability: np.ndarray, answered: np.ndarray, weights: np.ndarray) -> float:
    """The expected calibration error (Naeini et al., 2015): mean distance of confidence and frequency over bins."""
    return sum(one["share"] * abs(one["confidence"] - one["answered"]) for one in bins(probability, answered, weights))


def rounded(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list):
        return [rounded(value) for value in data]
    return round(float(data), 4)


def table(results: dict[str, Any]) -> str:
    """One line per configuration and set, then the constants."""
    lines = []
    for configuration, rows in results["leave_one_set_out"].items():
        lines.append(configuration)
        for name, row in rows.items():
            lines.append(f"  {name:<18}" + "".join(f"{key} {value:<8.3f}" for key, value in row.items()))
    return "\n".join([*lines, f"fitted {results['fitted']}", f"shipped {results['shipped']}"])


if __name__ == "__main__":
    main()
