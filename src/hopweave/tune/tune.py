"""Tuning: search for better parameter values of a recipe, tested on held-out queries."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from hopweave.evaluate import table
from hopweave.evaluate.metrics import Judging, depth, score_each
from hopweave.evaluate.queries import EvaluationQuery, query_set_warnings
from hopweave.evaluate.ranking_cache import RankingCache, with_cached_sources
from hopweave.evaluate.significance import Difference, paired_difference
from hopweave.knowledge import Knowledge
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe
from hopweave.tune.search import Trial, Values, best, search
from hopweave.tune.search_space import Parameter, tunable, with_values
from hopweave.tune.search_space import parameters as named_parameters

DEFAULT_MEASURE = "ndcg@10"
MANY_QUERIES = 100
"""With at least this many queries, one share of them is held out; with fewer, cross-validation is used."""

_HELD_OUT = 0.3
_FOLDS = 3
_MIN_QUERIES = 6
_MIN_OF_AN_INTENT = 5
_NOISE = "the difference on held-out queries is within noise"


@dataclass(frozen=True, slots=True)
class Tuning:
    """The result of `tune`; print it to read it.

    `candidate` is the recipe with the best values of `trials`, whose scores are lower bounds (see `cautious_mean`).
    `trained` has the means before and after tuning on the queries used in the search. `before` and `after` have the
    scores of the held-out queries with the starting recipe and with tuned values. With several `folds`, each group of
    queries is held out from a search of its own. `recipe` is the recipe to use: the candidate if `accepted`, else the
    starting recipe.
    """

    start: Recipe
    candidate: Recipe
    measure: str
    parameters: tuple[Parameter, ...]
    trials: tuple[Trial, ...]
    trained: tuple[float, float]
    held_out: tuple[EvaluationQuery, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    difference: Difference
    folds: int
    accepted: bool
    warnings: tuple[str, ...] = ()

    @property
    def recipe(self) -> Recipe:
        """The recipe to use."""
        return self.candidate if self.accepted else self.start

    @property
    def values(self) -> Values:
        """The best values of the search."""
        return best(self.trials).values

    @property
    def verdict(self) -> str:
        """In one sentence, whether tuning helped and which recipe is used."""
        found = self.difference
        chance = f"{self.measure} {found.mean:+.3f} on held-out queries, p = {found.p_value:.3f}"
        kept = "the tuned recipe is used anyway" if self.accepted else "the starting recipe is kept"
        if best(self.trials).number == 0:
            return f"No values scored higher than the starting ones, so the recipe is unchanged ({self.measure})."
        if found.within_noise:
            return f"The difference is within noise ({chance}): {kept}."
        if found.mean < 0:
            return f"The tuned recipe is worse ({chance}): {kept}."
        return f"The tuned recipe is better ({chance}) and is used."

    def to_yaml(self) -> str:
        """The recipe to use, as YAML, with the verdict as a comment in the first line."""
        return f"# {self.verdict}\n{self.recipe.to_yaml()}"

    def as_dict(self) -> dict[str, Any]:
        """The tuning as plain JSON types."""
        return {
            "recipe": self.start.name,
            "measure": self.measure,
            "training": {"before": self.trained[0], "after": self.trained[1]},
            "held_out": {
                "queries": len(self.held_out),
                "folds": self.folds,
                "before": fmean(self.before),
                "after": fmean(self.after),
                "difference": self.difference.mean,
                **self.difference.as_dict(),
            },
            "parameters": {
                one.path: {"start": one.start, "tuned": self.values[one.path], "low": one.low, "high": one.high}
                for one in self.parameters
            },
            "trials": len(self.trials),
            "tried": [{"score": trial.score, "values": dict(trial.values)} for trial in self.trials],
            "accepted": self.accepted,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return "\n\n".join([table.plain(*self.figures()), table.plain(*self.numbers()), self.verdict])

    def figures(self) -> tuple[list[str], list[list[str]]]:
        """The measure before and after tuning, as the cells of a table."""
        found, (first, last) = self.difference, self.trained
        held_out = [f"{fmean(self.before):.3f}", f"{fmean(self.after):.3f}", f"{found.mean:+.3f}", found.interval_text]
        return ["", "before", "after", "difference", "95 % interval", "p"], [
            [f"{self.measure}, tuned on", f"{first:.3f}", f"{last:.3f}", f"{last - first:+.3f}", "", ""],
            [f"{self.measure}, held out", *held_out, f"{found.p_value:.3f}"],
        ]

    def numbers(self) -> tuple[list[str], list[list[str]]]:
        """The parameters before and after, as the cells of a table."""
        return ["parameter", "start", "tuned", "from", "to"], [
            [one.path, *(f"{number:.4g}" for number in (one.start, self.values[one.path], one.low, one.high))]
            for one in self.parameters
        ]


def tune(
    knowledge: Knowledge,
    recipe: str | Path | Recipe,
    judged: Sequence[EvaluationQuery],
    *,
    parameters: Sequence[str] | None = None,
    measure: str = DEFAULT_MEASURE,
    trials: int = 50,
    held_out: float | None = None,
    accept: bool = False,
    judging: Judging = "classes",
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> Tuning:
    """Search for parameter values that improve a measure on judged queries, and test them on held-out queries.

    `parameters` are paths into the recipe, optionally with a range (`path=low:high`); by default, the weights of the
    fuser, or for each intent that at least 5 queries have its weights if the fuser goes by intents, and all bounded
    numbers are tuned (`tunable`). `held_out` is the share of queries to test on; by default it is
    0.3, and with fewer than 100 queries three-fold cross-validation is used. The tuned recipe is used if it is
    significantly better on held-out queries, or if `accept` is True.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [EvaluationQuery.read({"question": f"What about number {n}?", "gold": [str(n)]}) for n in range(6)]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add(Document(str(n), f"This is about number {n}.") for n in range(6))
    ...     tune(kb, "hybrid", judged, trials=2).accepted
    False
    """
    start = load_recipe(recipe)
    space = [one for text in parameters for one in named_parameters(start, text)] if parameters else []
    space = space or tunable(start, _frequent_intents(start, judged))
    if not space:
        raise ValueError(f"parameters: the recipe {start.name!r} has none that are bounded; name some as path=low:high")
    if len(judged) < _MIN_QUERIES:
        raise ValueError(f"judged: tuning needs at least {_MIN_QUERIES} judged queries, but there are {len(judged)}")
    cache = RankingCache(4 * len(judged) * len(start.sources))
    task = _Task(knowledge, start, tuple(space), measure, judging, cache, trials, seed, progress)
    splits = list(_splits(judged, held_out, seed))
    found, before, after = _cross_validate(task, splits)
    trained_on = splits[0][0]
    if len(splits) > 1:
        trained_on = list(judged)
        found = task.search(trained_on)
    difference = paired_difference(before, after, seed=seed)
    better = difference.mean > 0 and not difference.within_noise
    return Tuning(
        start=start,
        candidate=with_values(start, best(found).values),
        measure=measure,
        parameters=tuple(space),
        trials=tuple(found),
        trained=(fmean(task.scores({}, trained_on)), fmean(task.scores(best(found).values, trained_on))),
        held_out=tuple(query for _, test in splits for query in test),
        before=tuple(before),
        after=tuple(after),
        difference=difference,
        folds=len(splits),
        accepted=bool(best(found).number) and (accept or better),
        warnings=(*query_set_warnings(judged, knowledge), *([_NOISE] if difference.within_noise else [])),
    )


def _frequent_intents(recipe: Recipe, judged: Sequence[EvaluationQuery]) -> list[str]:
    """The intents of enough of the queries for weights of their own."""
    counts = Counter(recipe.intent.classify(one.query.text).name for one in judged) if recipe.intent else {}
    return sorted(name for name, count in counts.items() if count >= _MIN_OF_AN_INTENT)


def cautious_mean(before: Sequence[float], after: Sequence[float]) -> float:
    """The mean of `after` minus one standard error of its gain over `before`.

    The score of the best of many trials is biased upwards, the more so the fewer the queries. A change that helps on
    some queries and hurts on others has a large standard error; no change has none.

    >>> cautious_mean([0.5, 0.5], [0.5, 0.5]), cautious_mean([0.5, 0.5], [0.7, 0.7])
    (0.5, 0.7)
    >>> cautious_mean([0.5, 0.5], [0.5, 0.9])  # 0.7 − 0.4 / √2 / √2
    0.5
    """
    gains = [new - old for old, new in zip(before, after, strict=True)]
    return fmean(after) - (stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0)


def searches(queries: int, held_out: float | None = None) -> int:
    """The number of searches that `tune` makes for this number of queries, for example for a progress bar.

    >>> searches(30), searches(300)
    (4, 1)
    """
    return 1 if held_out is not None or queries >= MANY_QUERIES else _FOLDS + 1


@dataclass(frozen=True, slots=True)
class _Task:
    """A recipe, the parameters to search and how to score them."""

    knowledge: Knowledge
    recipe: Recipe
    parameters: tuple[Parameter, ...]
    measure: str
    judging: Judging
    cache: RankingCache
    trials: int
    seed: int
    progress: Callable[[int], object] | None

    def search(self, queries: Sequence[EvaluationQuery]) -> list[Trial]:
        """The trials of one search on these queries."""
        start_scores = self.scores({}, queries)

        def score(values: Values) -> float:
            return cautious_mean(start_scores, self.scores(values, queries))

        return search(self.parameters, score, trials=self.trials, seed=self.seed, progress=self.progress)

    def scores(self, values: Values, queries: Sequence[EvaluationQuery]) -> list[float]:
        """The measure of the recipe with these values, for each query."""
        recipe = with_cached_sources(with_values(self.recipe, values), self.cache)
        pipeline, top_k = Pipeline(recipe, self.knowledge), depth(self.measure)
        found = [[hit.id for hit in pipeline.run(one.query, top_k=top_k).hits] for one in queries]
        return list(score_each(queries, found, [self.measure], judging=self.judging)[self.measure])


_Split = tuple[list[EvaluationQuery], list[EvaluationQuery]]
"""Queries to tune on and queries to test on."""


def _cross_validate(task: _Task, splits: Sequence[_Split]) -> tuple[list[Trial], list[float], list[float]]:
    """The trials of the last search, and the scores of all test queries before and after tuning."""
    found: list[Trial] = []
    before: list[float] = []
    after: list[float] = []
    for train, test in splits:
        found = task.search(train)
        before += task.scores({}, test)
        after += task.scores(best(found).values, test)
    return found, before, after


def _splits(judged: Sequence[EvaluationQuery], held_out: float | None, seed: int) -> Iterator[_Split]:
    if held_out is not None and not 0 < held_out < 1:
        raise ValueError(f"held_out: {held_out} is not allowed: it must be a share between 0 and 1")
    order = np.random.default_rng(seed).permutation(len(judged)).tolist()
    if searches(len(judged), held_out) == 1:
        count = round(len(judged) * (_HELD_OUT if held_out is None else held_out))
        groups = [set(order[: min(max(count, 1), len(judged) - 1)])]
    else:
        groups = [set(order[fold::_FOLDS]) for fold in range(_FOLDS)]
    for group in groups:
        yield (
            [one for number, one in enumerate(judged) if number not in group],
            [one for number, one in enumerate(judged) if number in group],
        )
