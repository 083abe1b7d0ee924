"""How well recipes answer judged queries, and how long they take."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from hopweave.component import Knowledge, Source
from hopweave.errors import EmbeddingError, KnowledgeBaseError
from hopweave.fusion.as_found import AsFound
from hopweave.measure import table
from hopweave.measure.judged import JudgedQuery, doubts
from hopweave.measure.metrics import DEFAULT_MEASURES, Judging, depth, score_each
from hopweave.measure.significance import Interval, bootstrap_interval
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How one recipe did: for each query what it found, best first, how good that is, and how long it took.

    `scores` holds, by measure, one value per query; `warnings` tell of sources that had no part in some answers.
    """

    name: str
    recipe: Recipe
    judged: tuple[JudgedQuery, ...]
    found: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    scores: Mapping[str, tuple[float, ...]]
    seed: int = 0
    warnings: tuple[str, ...] = ()

    def mean(self, measure: str) -> float:
        """The mean over the queries."""
        return fmean(self.scores[measure])

    def interval(self, measure: str) -> Interval | None:
        """Where that mean lies with other queries of the same kind, in 95 of 100 cases; None for a single query."""
        return bootstrap_interval(self.scores[measure], seed=self.seed)

    @property
    def latency_ms(self) -> dict[str, float]:
        """Milliseconds that half, 95 % and 99 % of the queries stay below."""
        values = np.percentile(self.seconds, PERCENTILES) * 1000
        return {f"p{rank}": float(value) for rank, value in zip(PERCENTILES, values, strict=True)}

    def per_query(self) -> Iterator[dict[str, Any]]:
        """For each query, as plain data: the question, its gold, what was found, how good that is, how long it took."""
        for number, one in enumerate(self.judged):
            yield {
                "recipe": self.name,
                "id": one.id,
                "question": one.query.text,
                "gold": [group[0] if len(group) == 1 else list(group) for group in one.gold],
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
    """What `evaluate` found out; print it to read it as a table."""

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

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        measures = list(self.evaluations[0].scores)
        heads = ["recipe", *measures, *(f"p{rank} ms" for rank in PERCENTILES)]
        return heads, [
            [one.name, *(_with_spread(one, measure) for measure in measures), *_times(one)] for one in self.evaluations
        ]


def evaluate(
    knowledge: Knowledge,
    recipes: Sequence[str | Path | Recipe],
    judged: Sequence[JudgedQuery],
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judging: Judging = "classes",
    sources: bool = False,
    seed: int = 0,
) -> Report:
    """Answer all judged queries with every recipe and say how good the answers are.

    Recipes are asked for as many hits as the deepest measure looks at. With `sources`, each source of a recipe is
    also measured alone and, if others lead it to its hits, led by them. Times are of one run per query with everything
    loaded and the question embedded.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [JudgedQuery.read({"question": "When does the gate open?", "gold": ["gate"]})]
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
    return Report(evaluations, (*doubts(judged, knowledge), *failed))


def evaluate_one(
    knowledge: Knowledge,
    recipe: str | Path | Recipe,
    judged: Sequence[JudgedQuery],
    *,
    name: str | None = None,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judging: Judging = "classes",
    seed: int = 0,
) -> Evaluation:
    """Answer all judged queries with one recipe.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [JudgedQuery.read({"question": "When does the gate open?", "gold": ["gate"]})]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("gate", "The tide gate opens at six.")])
    ...     evaluate_one(kb, "hybrid", judged).found
    (('gate',),)
    """
    deepest = max(map(depth, measures))
    pipeline = Pipeline(recipe, knowledge)
    pipeline.run(judged[0].query, top_k=deepest)  # loads indexes and graph
    found, seconds, failed = [], [], Counter[str]()
    for one in judged:
        with contextlib.suppress(EmbeddingError, KnowledgeBaseError):  # not every knowledge base has an embedder
            knowledge.embed(one.query.text)  # remembered, so that no recipe pays for what the one before it had done
        started = perf_counter()
        result = pipeline.run(one.query, top_k=deepest)
        seconds.append(perf_counter() - started)
        found.append(tuple(hit.id for hit in result.hits))
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
    )


def single_source(recipe: Recipe, name: str) -> dict[str, Recipe]:
    """Recipes of one source: alone, if it finds anything so, and led by the sources it needs, if there are any.

    >>> found = single_source(load_recipe("multihop"), "graph")
    >>> {label: list(one.sources) for label, one in found.items()}
    {'graph alone': ['graph'], 'graph led by text, vector': ['text', 'vector', 'graph']}
    """
    if name not in recipe.sources:
        raise ValueError(f"source: {name!r} is not allowed: there are {', '.join(recipe.sources)}")
    source = recipe.sources[name]
    needed = {name}
    for wave in reversed(recipe.waves):
        needed |= {need for one in wave if one in needed for need in recipe.sources[one].needs}
    found: dict[str, dict[str, Source]] = {}
    if source.by_itself is not None:
        found[f"{name} alone"] = {name: source.by_itself}
    if source.needs:
        found[f"{name} led by {', '.join(source.needs)}"] = {
            key: one for key, one in recipe.sources.items() if key in needed
        }
    return {
        label: Recipe(
            name=f"{recipe.name}: {label}",
            intent=recipe.intent,
            sources=sources,
            fuse=AsFound(source=name),
            top_k=recipe.top_k,
        )
        for label, sources in found.items()
    }


def _named(recipes: Sequence[str | Path | Recipe], *, sources: bool) -> dict[str, Recipe]:
    named: dict[str, Recipe] = {}
    for given in recipes:
        recipe = load_recipe(given)
        # two files may well hold recipes of the same name: then the files tell them apart
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


def _times(evaluation: Evaluation) -> list[str]:
    return [f"{milliseconds:.1f}" for milliseconds in evaluation.latency_ms.values()]
