"""Finding better numbers for a recipe on judged queries, and finding out whether they are better."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np

from hopweave.component import Knowledge
from hopweave.measure import table
from hopweave.measure.judged import JudgedQuery, doubts
from hopweave.measure.metrics import Judging, depth, score_each
from hopweave.measure.remembered import Memory, remembering
from hopweave.measure.search import Trial, Values, best, search
from hopweave.measure.significance import Difference, paired_difference
from hopweave.measure.space import Parameter, parameter, tunable, with_values
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe

DEFAULT_MEASURE = "ndcg@10"
MANY_QUERIES = 100
"""From so many queries on, a share of them is held out; fewer are too precious, so every query is held out in turn."""

_HELD_OUT = 0.3
_FOLDS = 3
_FEWEST = 6
_NOISE = "what tuning changed on held-out queries is within noise"


@dataclass(frozen=True, slots=True)
class Tuning:
    """What `tune` found out; print it to read it.

    `candidate` is the recipe with the best numbers of `trials`, whose scores are cautious (see `cautious_mean`), and
    `trained` are the means before and after on the queries they were found with. `before` and `after` are, query by
    query, how the starting recipe and tuned numbers did on queries that these numbers had not seen: `folds` groups of
    queries were held out in turn, each from a search of its own; with one fold, a single group. `recipe` is what to
    use: the candidate if `accepted`, else the starting recipe.
    """

    start: Recipe
    candidate: Recipe
    measure: str
    parameters: tuple[Parameter, ...]
    trials: tuple[Trial, ...]
    trained: tuple[float, float]
    held_out: tuple[JudgedQuery, ...]
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
        """The best numbers of the search."""
        return best(self.trials).values

    @property
    def verdict(self) -> str:
        """In one sentence, whether tuning helped and what was done about it."""
        found = self.difference
        chance = f"{self.measure} {found.mean:+.3f} on held-out queries, p = {found.p_value:.3f}"
        kept = "the tuned recipe is taken all the same" if self.accepted else "the starting recipe is kept"
        if best(self.trials).number == 0:
            return f"No numbers did better than the starting ones, so the recipe stays as it is ({self.measure})."
        if found.within_noise:
            return f"What tuning gained is within noise ({chance}): {kept}."
        if found.mean < 0:
            return f"Tuning made it worse ({chance}): {kept}."
        return f"Tuning made it better ({chance}): the tuned recipe is taken."

    def to_yaml(self) -> str:
        """The recipe to use, as YAML, headed by how it came about."""
        return f"# {self.verdict}\n{self.recipe.to_yaml()}"

    def as_dict(self) -> dict[str, Any]:
        """The tuning as plain JSON types."""
        interval = self.difference.interval
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
                "low": interval and interval.low,
                "high": interval and interval.high,
                "p_value": self.difference.p_value,
                "within_noise": self.difference.within_noise,
            },
            "parameters": {
                one.path: {"start": one.start, "tuned": self.values[one.path], "low": one.low, "high": one.high}
                for one in self.parameters
            },
            "trials": len(self.trials),
            "accepted": self.accepted,
            "verdict": self.verdict,
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return "\n\n".join([table.plain(*self.figures()), table.plain(*self.numbers()), self.verdict])

    def figures(self) -> tuple[list[str], list[list[str]]]:
        """How good the recipe was before and after, as the cells of a table."""
        found, (first, last) = self.difference, self.trained
        interval = f"{found.interval.low:+.3f} to {found.interval.high:+.3f}" if found.interval else "–"
        held_out = [f"{fmean(self.before):.3f}", f"{fmean(self.after):.3f}", f"{found.mean:+.3f}", interval]
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
    judged: Sequence[JudgedQuery],
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
    """Search for numbers with which a recipe answers judged queries better, and test them on queries not searched with.

    `parameters` are paths into the recipe, with `path=low:high` to say where to look; without any, the weights of the
    fuser and all bounded shares are tuned (`tunable`). `held_out` is the share of queries to test on; by default it is
    0.3 of many queries, and with fewer than 100 every third of them is held out in turn. Tuned numbers are taken if
    they are better on held-out queries beyond noise, or if you `accept` them anyway.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [JudgedQuery.read({"question": f"What about number {n}?", "gold": [str(n)]}) for n in range(6)]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add(Document(str(n), f"This is about number {n}.") for n in range(6))
    ...     tune(kb, "hybrid", judged, trials=2).accepted
    False
    """
    start = load_recipe(recipe)
    space = [parameter(start, text) for text in parameters] if parameters else tunable(start)
    if not space:
        raise ValueError(f"parameters: the recipe {start.name!r} has none that are bounded; name some as path=low:high")
    if len(judged) < _FEWEST:
        raise ValueError(f"judged: tuning needs at least {_FEWEST} judged queries, but there are {len(judged)}")
    task = _Task(knowledge, start, measure, judging, Memory(4 * len(judged) * len(start.sources)))

    def searched(queries: Sequence[JudgedQuery]) -> list[Trial]:
        start_scores = task.scores({}, queries)

        def score(values: Values) -> float:
            return cautious_mean(start_scores, task.scores(values, queries))

        return search(space, score, trials=trials, seed=seed, progress=progress)

    groups = list(_splits(judged, held_out, seed))
    before, after, tested, found = [], [], [], []
    for train, test in groups:
        found = searched(train)
        before += task.scores({}, test)
        after += task.scores(best(found).values, test)
        tested += test
    trained_on = groups[0][0]
    if len(groups) > 1:
        trained_on = list(judged)
        found = searched(trained_on)
    difference = paired_difference(before, after, seed=seed)
    better = difference.mean > 0 and not difference.within_noise
    return Tuning(
        start=start,
        candidate=with_values(start, best(found).values),
        measure=measure,
        parameters=tuple(space),
        trials=tuple(found),
        trained=(fmean(task.scores({}, trained_on)), fmean(task.scores(best(found).values, trained_on))),
        held_out=tuple(tested),
        before=tuple(before),
        after=tuple(after),
        difference=difference,
        folds=len(groups),
        accepted=bool(best(found).number) and (accept or better),
        warnings=(*doubts(judged, knowledge), *([_NOISE] if difference.within_noise else [])),
    )


def cautious_mean(before: Sequence[float], after: Sequence[float]) -> float:
    """The mean of `after`, less one standard error of what it gains over `before`.

    The best of many trials is partly the luckiest, and the fewer the queries the more so. What gains a little on a few
    queries and loses on others has a large standard error; what changes nothing has none.

    >>> cautious_mean([0.5, 0.5], [0.5, 0.5]), cautious_mean([0.5, 0.5], [0.7, 0.7])
    (0.5, 0.7)
    >>> cautious_mean([0.5, 0.5], [0.5, 0.9])  # 0.7 − 0.4 / √2 / √2
    0.5
    """
    gains = [new - old for old, new in zip(before, after, strict=True)]
    return fmean(after) - (stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else 0.0)


def searches(queries: int, held_out: float | None = None) -> int:
    """How many searches `tune` makes with so many queries: what a progress bar needs to know.

    >>> searches(30), searches(300)
    (4, 1)
    """
    return 1 if held_out is not None or queries >= MANY_QUERIES else _FOLDS + 1


@dataclass(frozen=True, slots=True)
class _Task:
    knowledge: Knowledge
    recipe: Recipe
    measure: str
    judging: Judging
    memory: Memory

    def scores(self, values: Values, queries: Sequence[JudgedQuery]) -> list[float]:
        """How good the recipe is with these numbers, query by query."""
        recipe = remembering(with_values(self.recipe, values), self.memory)
        pipeline, top_k = Pipeline(recipe, self.knowledge), depth(self.measure)
        found = [[hit.id for hit in pipeline.run(one.query, top_k=top_k).hits] for one in queries]
        return list(score_each(queries, found, [self.measure], judging=self.judging)[self.measure])


def _splits(
    judged: Sequence[JudgedQuery], held_out: float | None, seed: int
) -> Iterator[tuple[list[JudgedQuery], list[JudgedQuery]]]:
    """Queries to tune on and queries to test on."""
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
