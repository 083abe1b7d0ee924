"""Comparison of two recipes on the same queries, with a significance test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopweave.evaluate import table
from hopweave.evaluate.evaluate import Evaluation, evaluate
from hopweave.evaluate.metrics import DEFAULT_MEASURES, Judging
from hopweave.evaluate.queries import EvaluationQuery
from hopweave.evaluate.significance import Difference, paired_difference
from hopweave.knowledge import Knowledge
from hopweave.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Change:
    """A query and the value of the deciding measure for both recipes."""

    query: EvaluationQuery
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`; print it to read it.

    The first of the measures decides; wins and losses refer to it.
    """

    first: Evaluation
    second: Evaluation
    differences: Mapping[str, Difference]
    warnings: tuple[str, ...] = ()

    @property
    def measure(self) -> str:
        """The measure that decides."""
        return next(iter(self.differences))

    @property
    def wins(self) -> tuple[Change, ...]:
        """Queries that the second recipe answers better, the largest gain first."""
        return tuple(sorted((one for one in self._changes() if one.after > one.before), key=_gain, reverse=True))

    @property
    def losses(self) -> tuple[Change, ...]:
        """Queries that the second recipe answers worse, the largest loss first."""
        return tuple(sorted((one for one in self._changes() if one.after < one.before), key=_gain))

    @property
    def verdict(self) -> str:
        """In one sentence, whether the second recipe is better."""
        found = self.differences[self.measure]
        chance = f"{self.measure} {found.mean:+.3f}, p = {found.p_value:.3f}"
        if not any(change.before != change.after for change in self._changes()):
            return f"{self.first.name} and {self.second.name} are equal on every query ({self.measure})."
        if found.within_noise:
            return f"The difference is within noise ({chance}): these queries do not show that either is better."
        better, worse = (self.second, self.first) if found.mean > 0 else (self.first, self.second)
        return f"{better.name} is better than {worse.name} ({chance})."

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain JSON types."""
        return {
            "first": {"recipe": self.first.name, **self.first.as_dict()},
            "second": {"recipe": self.second.name, **self.second.as_dict()},
            "differences": {name: {"mean": one.mean, **one.as_dict()} for name, one in self.differences.items()},
            "decided_by": self.measure,
            "verdict": self.verdict,
            "wins": [_plain(one) for one in self.wins],
            "losses": [_plain(one) for one in self.losses],
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        equal = len(self.first.judged) - len(self.wins) - len(self.losses)
        tally = f"{len(self.wins)} better, {len(self.losses)} worse, {equal} equal"
        changes = [_line("+", one) for one in self.wins] + [_line("−", one) for one in self.losses]
        listed = [f"{self.second.name}: {tally} ({self.measure})", *changes]
        return "\n".join([table.plain(*self._cells()), "", self.verdict, "", *listed])

    def to_markdown(self) -> str:
        """The table and the verdict in Markdown, for documents that are generated."""
        return f"{table.markdown(*self._cells())}\n\n{self.verdict}"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for name, one in self.differences.items():
            means = [f"{side.mean(name):.3f}" for side in (self.first, self.second)]
            noise = "within noise" if one.within_noise else "beyond noise"
            rows.append([name, *means, f"{one.mean:+.3f}", one.interval_text, f"{one.p_value:.3f}", noise])
        return ["measure", self.first.name, self.second.name, "difference", "95 % interval", "p", ""], rows

    def _changes(self) -> list[Change]:
        values = zip(self.first.scores[self.measure], self.second.scores[self.measure], strict=True)
        return [Change(query, *pair) for query, pair in zip(self.first.judged, values, strict=True)]


def compare(
    knowledge: Knowledge,
    first: str | Path | Recipe,
    second: str | Path | Recipe,
    judged: Sequence[EvaluationQuery],
    *,
    measures: Sequence[str] = DEFAULT_MEASURES,
    judging: Judging = "classes",
    seed: int = 0,
) -> Comparison:
    """Run the same queries with two recipes and test whether the second is better.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> judged = [EvaluationQuery.read({"question": "When does the gate open?", "gold": ["gate"]})]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("gate", "The tide gate opens at six.")])
    ...     compare(kb, "hybrid", "multihop", judged).verdict
    'hybrid and multihop are equal on every query (recall@5).'
    """
    report = evaluate(knowledge, [first, second], judged, measures=measures, judging=judging, seed=seed)
    one, other = report.evaluations
    differences = {name: paired_difference(one.scores[name], other.scores[name], seed=seed) for name in one.scores}
    return Comparison(one, other, differences, report.warnings)


def _gain(change: Change) -> float:
    return change.after - change.before


def _line(sign: str, change: Change) -> str:
    return f"  {sign} {change.query.id}  {change.before:.3f} → {change.after:.3f}  {change.query.query.text}"


def _plain(change: Change) -> dict[str, Any]:
    one = change.query
    return {"id": one.id, "question": one.query.text, "before": change.before, "after": change.after}
