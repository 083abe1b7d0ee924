"""Evaluation: metrics and latency of recipes on judged queries."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

from hopweave.evaluate import table
from hopweave.evaluate.metrics import DEFAULT_MEASURES, Judging, depth, score_each
from hopweave.evaluate.queries import EvaluationQuery, query_set_warnings
from hopweave.evaluate.significance import Interval, bootstrap_interval
from hopweave.knowledge import Capability, Knowledge
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe
from hopweave.routing.intent import IntentClassifier

T = TypeVar("T")

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of one recipe: for each query the ids found, best first, the metrics and the time in seconds.

    `scores` holds, by measure, one value per query; `intents` are those the recipe classified the queries as, or
    those of the eight built-in ones if it does not classify; `warnings` name sources that failed for some queries.
    """

    name: str
    recipe: Recipe
    judged: tuple[EvaluationQuery, ...]
    found: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    scores: Mapping[str, tuple[float, ...]]
    seed: int = 0
    warnings: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()

    def mean(self, measure: str) -> float:
        """The mean over the queries."""
        return fmean(self.scores[measure])

    def interval(self, measure: str) -> Interval | None:
        """The 95 % bootstrap confidence interval of the mean; None for a single query."""
        return bootstrap_interval(self.scores[measure], seed=self.seed)

    def by_intent(self) -> dict[str, "Evaluation"]:
        """The same evaluation for the queries of each intent, by the name of the intent."""
        return {intent: self._among([one == intent for one in self.intents]) for intent in sorted(set(self.intents))}

    def _among(self, chosen: Sequence[bool]) -> "Evaluation":
        """The evaluation of some of the queries."""

        def kept(values: Sequence[T]) -> tuple[T, ...]:
            return tuple(compress(values, chosen))

        return replace(
            self,
            judged=kept(self.judged),
            found=kept(self.found),
            seconds=kept(self.seconds),
            intents=kept(self.intents),
            scores={measure: kept(values) for measure, values in self.scores.items()},
        )

    @property
    def latency_ms(self) -> dict[str, float]:
        """The 50th, 95th and 99th percentile of the time per query, in milliseconds."""
        values = np.percentile(self.seconds, PERCENTILES) * 1000
        return {f"p{rank}": float(value) for rank, value in zip(PERCENTILES, values, strict=True)}

    def per_query(self) -> Iterator[dict[str, Any]]:
        """For each query, as plain data: question, relevant ids (`gold`), ids found, metrics and time."""
        for number, one in enumerate(self.judged):
            yield {
                "recipe": self.name,
                "id": one.id,
                "question": one.query.text,
                "intent": self.intents[number],
                "gold": [group[0] if len(group) == 1 else list(group) for group in one.qrels],
                "found": list(self.found[number]),
                **{measure: values[number] for measure, values in self.scores.items()},
                "ms": 1000 * self.seconds[number],
            }

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain JSON types."""
        means: dict[str, Any] = {}
        for measure in self.scores:
            interval = self.interval(measure)
            low, high = interval or (None, None)
            means[measure] = {"mean": self.mean(measure), "low": low, "high": high}
        return {**means, "latency_ms": self.latency_ms}


@dataclass(frozen=True, slots=True)
class Report:
    """The result of `evaluate`; print it to read it as a table."""

    evaluations: tuple[Evaluation, ...]
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The report as plain JSON types."""
        return {
            "queries": len(self.evaluations[0].judged),
            "recipes": {one.name: one.as_dict() for one in self.evaluations},
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        return table.plain(*self._cells())

    def to_markdown(self) -> str:
        """The table in Markdown, for documents that are generated."""
        return table.markdown(*self._cells())

    def by_intent(self) -> "Report":
        """The same report with one row for each recipe and intent of the queries."""
        rows = (
            replace(part, name=f"{one.name}: {intent} ({len(part.judged)})")
            for one in self.evaluations
            for intent, part in one.by_intent().items()
        )
        return replace(self, evaluations=tuple(rows))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        measures = list(self.evaluations[0].scores)
        heads = ["recipe", *measures, *(f"p{rank} ms" for rank in PERCENTILES)]
        return heads, [
            [
                one.name,
                *(_with_spread(one, measure) for measure in measures),
                *(f"{milliseconds:.1f}" for milliseconds in one.latency_ms.values()),
            ]
            for one in self.evaluations
        ]


def evaluate(
    knowledge: Knowledge,
    recipes: Sequence[str | Path | Recipe],
    judged: Sequence[EvaluationQuery],
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judging: Judging = "classes",
    sources: bool = False,
    seed: int = 0,
) -> Report:
    """Run all judged queries with every recipe and compute metrics and latency.

    Recipes are asked for as many hits as the largest cutoff of the measures. With `sources`, each source of a recipe is
    also evaluated alone and, if it builds on other sources, together with them. Times are those of one run per query,
    with indexes loaded and the question embedded beforehand.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [EvaluationQuery.read({"question": "When does the gate open?", "gold": ["gate"]})]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("skua", "The Skua is a ferry."), Document("gate", "The tide gate opens at six.")])
    ...     evaluate(kb, ["hybrid"], judged, measures=["mrr@10"]).evaluations[0].mean("mrr@10")
    1.0
    """
    if not judged:
        raise ValueError("judged: there must be at least one judged query")
    if not measures:
        raise ValueError("measures: there must be at least one")
    if not recipes:
        raise ValueError("recipes: there must be at least one")
    named = _named(recipes, sources=sources)
    evaluations = tuple(
        evaluate_one(knowledge, recipe, judged, name=name, measures=measures, judging=judging, seed=seed)
        for name, recipe in named.items()
    )
    failed = [warning for one in evaluations for warning in one.warnings]
    return Report(evaluations, (*query_set_warnings(judged, knowledge), *failed))


def evaluate_one(
    knowledge: Knowledge,
    recipe: str | Path | Recipe,
    judged: Sequence[EvaluationQuery],
    *,
    name: str | None = None,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judging: Judging = "classes",
    seed: int = 0,
) -> Evaluation:
    """Run all judged queries with one recipe.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [EvaluationQuery.read({"question": "When does the gate open?", "gold": ["gate"]})]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("gate", "The tide gate opens at six.")])
    ...     evaluate_one(kb, "hybrid", judged).found
    (('gate',),)
    """
    deepest = max(map(depth, measures))
    pipeline = Pipeline(recipe, knowledge)
    pipeline.run(judged[0].query, top_k=deepest)  # loads indexes and graph
    classifier = IntentClassifier()
    found, seconds, intents, failed = [], [], [], Counter[str]()
    for one in judged:
        if Capability.EMBEDDER in knowledge.capabilities:
            knowledge.embed(one.query.text)  # fills the cache, so that the first recipe is not charged for it
        started = perf_counter()
        result = pipeline.run(one.query, top_k=deepest)
        seconds.append(perf_counter() - started)
        found.append(tuple(hit.id for hit in result.hits))
        intents.append((result.query.intent or classifier.classify(one.query.text)).name)
        failed.update(f"without {source}: {reason}" for source, reason in result.failures.items())
    scores = score_each(judged, found, measures, judging=judging)
    label = name or pipeline.recipe.name
    return Evaluation(
        name=label,
        recipe=pipeline.recipe,
        judged=tuple(judged),
        found=tuple(found),
        seconds=tuple(seconds),
        scores=scores,
        seed=seed,
        warnings=tuple(f"{label}: {times} of {len(judged)} queries {what}" for what, times in failed.items()),
        intents=tuple(intents),
    )


def single_source(recipe: Recipe, name: str) -> dict[str, Recipe]:
    """Recipes for one source: alone, if it can run alone, and together with the sources it builds on, if any.

    >>> found = single_source(load_recipe("multihop"), "graph")
    >>> {label: list(one.sources) for label, one in found.items()}
    {'graph alone': ['graph'], 'graph led by text, vector': ['text', 'vector', 'graph']}
    """
    if name not in recipe.sources:
        raise ValueError(f"source: {name!r} is not allowed: there are {', '.join(recipe.sources)}")
    source = recipe.sources[name]
    needed = {name}
    for level in reversed(recipe.levels):
        needed |= {need for one in level if one in needed for need in recipe.sources[one].needs}
    found: dict[str, Recipe] = {}
    if source.without_upstream is not None:
        found[f"{name} alone"] = Recipe.of_source(
            source.without_upstream, name=name, intent=recipe.intent, top_k=recipe.top_k
        )
    if source.needs:
        others = {key: one for key, one in recipe.sources.items() if key in needed - {name}}
        found[f"{name} led by {', '.join(source.needs)}"] = Recipe.of_source(
            source, name=name, upstream=others, intent=recipe.intent, top_k=recipe.top_k
        )
    return {label: one.model_copy(update={"name": f"{recipe.name}: {label}"}) for label, one in found.items()}


def _named(recipes: Sequence[str | Path | Recipe], *, sources: bool) -> dict[str, Recipe]:
    named: dict[str, Recipe] = {}
    for given in recipes:
        recipe = load_recipe(given)
        # recipes of the same name are distinguished by the name of their file
        label = (
            recipe.name if recipe.name not in named else str(given if isinstance(given, str | Path) else recipe.name)
        )
        if label in named:
            raise ValueError(f"recipes: {label!r} comes twice")
        named[label] = recipe
        if sources and len(recipe.sources) > 1:
            for name in recipe.sources:
                named |= {f"{label}: {part}": one for part, one in single_source(recipe, name).items()}
    return named


def _with_spread(evaluation: Evaluation, measure: str) -> str:
    interval = evaluation.interval(measure)
    spread = f" ±{(interval.high - interval.low) / 2:.3f}" if interval else ""
    return f"{evaluation.mean(measure):.3f}{spread}"
