"""Diagnosis of a recipe: which questions it fails and why, and how much each source contributes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopweave.component import Rankings
from hopweave.evaluate import table
from hopweave.evaluate.metrics import Judging
from hopweave.evaluate.misses import REASONS, Miss, MissAnalysis
from hopweave.evaluate.queries import EvaluationQuery, Qrels, query_set_warnings
from hopweave.evaluate.ranking_cache import RankingCache, with_cached_sources
from hopweave.fusion.diagnostics import Observation, SignalReport
from hopweave.fusion.diagnostics import diagnose as diagnose_signals
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe

_SUBSETS_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Failure:
    """A question whose first hits lack relevant documents, with the reason for each."""

    query: EvaluationQuery
    misses: tuple[Miss, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.query.id}  {self.query.query.text}", *(f"    {miss}" for miss in self.misses)])


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of `diagnose`; print it to read it. `signals` is None for a recipe with a single source."""

    recipe: str
    queries: int
    top_k: int
    failures: tuple[Failure, ...]
    signals: SignalReport | None
    warnings: tuple[str, ...] = ()

    @property
    def reasons(self) -> dict[str, int]:
        """The number of misses with each reason, in the order of `REASONS`."""
        counts = Counter(miss.reason for failure in self.failures for miss in failure.misses)
        return {reason: counts[reason] for reason in REASONS if reason in counts}

    def as_dict(self) -> dict[str, Any]:
        """The diagnosis as plain JSON types."""
        return {
            "recipe": self.recipe,
            "queries": self.queries,
            "top_k": self.top_k,
            "reasons": self.reasons,
            "failures": [
                {
                    "id": failure.query.id,
                    "question": failure.query.query.text,
                    "missing": [miss.as_dict() for miss in failure.misses],
                }
                for failure in self.failures
            ],
            "signals": self.signals and _plain(self.signals),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        count = f"{len(self.failures)} of {self.queries} questions"
        failed = f"{self.recipe}: {count} lack relevant documents in the first {self.top_k} hits"
        counts = [f"{count:>5}  {REASONS[reason]}" for reason, count in self.reasons.items()]
        parts = ["\n".join([failed, *counts]), *map(str, self.failures)]
        if self.signals:
            parts += [f"What each source adds:\n{self.signals}", _about_redundancy(self.signals)]
            parts += [_about_subsets(self.signals)] if self.signals.subsets else []
        return "\n\n".join(parts)


def diagnose(
    knowledge: Knowledge,
    recipe: str | Path | Recipe,
    judged: Sequence[EvaluationQuery],
    *,
    top_k: int = 10,
    judging: Judging = "classes",
) -> Diagnosis:
    """Explain each relevant document that is not among the first `top_k` hits, and report what each source adds.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [EvaluationQuery.read({"id": "q1", "question": "When does the gate open?", "gold": ["gate", "lost"]})]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("gate", "The tide gate opens at six.")])
    ...     print(diagnose(kb, "hybrid", judged).failures[0])
    q1  When does the gate open?
        'lost': not in the knowledge base; no rank
    """
    chosen = load_recipe(recipe)
    cache = RankingCache(4 * len(chosen.sources))
    pipeline = Pipeline(with_cached_sources(chosen, cache), knowledge)
    failures, observations = [], []
    for one in judged:
        cache.latest.clear()
        result = pipeline.run(one.query, top_k=top_k)
        rankings = dict(cache.latest)
        qrels = one.qrels if judging == "classes" else tuple(group[:1] for group in one.qrels)
        observations.append(Observation(result.query, _collapsed(rankings, qrels), {group[0] for group in qrels}))
        found = {hit.id for hit in result.hits}
        missing = [group for group in qrels if not found & set(group)]
        if missing:
            fused = pipeline.find(one.query, top_k=top_k).hits
            analysis = MissAnalysis(chosen, knowledge, result, rankings, fused, top_k)
            failures.append(Failure(one, tuple(analysis.why(group) for group in missing)))
    several = len(chosen.sources) > 1 and judged
    signals = diagnose_signals(observations, chosen.fuse, top_k=top_k) if several else None
    return Diagnosis(
        chosen.name, len(judged), top_k, tuple(failures), signals, tuple(query_set_warnings(judged, knowledge))
    )


def _collapsed(rankings: Rankings, qrels: Qrels) -> dict[str, list[Hit]]:
    """The rankings with one id for each class of relevant documents."""
    names = {key: group[0] for group in qrels for key in group[1:]}
    return {
        name: list({hit.id: hit for hit in reversed([_named(hit, names) for hit in hits])}.values())[::-1]
        for name, hits in rankings.items()
    }


def _named(hit: Hit, names: dict[str, str]) -> Hit:
    return hit._replace(id=names[hit.id]) if hit.id in names else hit


def _plain(signals: SignalReport) -> dict[str, Any]:
    return {
        "recall": signals.recall,
        "redundant": list(signals.redundant),
        "sources": {one.name: {"hits": one.hits, "alone": one.alone, "adds": one.adds} for one in signals.sources},
        "pairs": [
            {"sources": [one.first, one.second], "correlation": one.correlation, "overlap": one.overlap}
            for one in signals.pairs
        ],
        "subsets": [{"sources": list(one.sources), "recall": one.recall} for one in signals.subsets],
    }


def _about_subsets(signals: SignalReport) -> str:
    """A table of the best subsets of each size, and what follows from it."""
    shown, sizes = [], Counter[int]()
    for one in sorted(signals.subsets, key=lambda one: (len(one.sources), -one.recall, one.sources)):
        sizes[len(one.sources)] += 1
        if sizes[len(one.sources)] <= _SUBSETS_SHOWN:
            shown.append([" + ".join(one.sources), str(len(one.sources)), f"{one.recall:.3f}"])
    left_out = f"; the best {_SUBSETS_SHOWN} of each size" if len(shown) < len(signals.subsets) else ""
    heads = ["sources", "number", f"recall@{signals.top_k}"]
    best, every = signals.best_subset, max(signals.subsets, key=lambda one: len(one.sources))
    verdict = "No subset beats all sources together."
    if best and best.recall > every.recall:
        verdict = (
            f"{' + '.join(best.sources)} beat all {len(every.sources)} sources: {best.recall:.3f} against "
            f"{every.recall:.3f}. Sources that rank alike or badly dilute others; on few questions it may be chance."
        )
    return f"Subsets of the sources{left_out}:\n{table.plain(heads, shown)}\n{verdict}"


def _about_redundancy(signals: SignalReport) -> str:
    if not signals.redundant:
        return "Every source adds to recall."
    names = ", ".join(signals.redundant)
    return f"Recall is no worse without: {names}. Leave out one at a time: removing several may lower recall."
