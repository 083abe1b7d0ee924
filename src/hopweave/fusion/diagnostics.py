"""Diagnostics of fusion: how much each source adds, and which sources are redundant.

A few independent sources are worth more than many that rank alike; correlation and overlap show which ones do.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from hopweave.component import Fuser, Rankings
from hopweave.query import Query
from hopweave.scores import checked

_ALL_SUBSETS_OF = 7


@dataclass(frozen=True, slots=True)
class Observation:
    """The rankings of all sources for one question and, if it is judged, the ids of the relevant documents."""

    query: Query
    rankings: Rankings
    relevant: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """One source: mean hits per question, share of them that no other source found, recall lost without it."""

    name: str
    hits: float
    alone: float
    adds: float | None


@dataclass(frozen=True, slots=True)
class PairReport:
    """Two sources: how alike they rank (Kendall's tau-b, None if that is undefined) and the share of common hits."""

    first: str
    second: str
    correlation: float | None
    overlap: float


@dataclass(frozen=True, slots=True)
class SubsetReport:
    """Some of the sources, and the recall of their fusion."""

    sources: tuple[str, ...]
    recall: float


@dataclass(frozen=True, slots=True)
class SignalReport:
    """The result of `diagnose`; print it to read it as a table."""

    questions: int
    judged: int
    top_k: int
    recall: float | None
    sources: tuple[SourceReport, ...]
    pairs: tuple[PairReport, ...]
    subsets: tuple[SubsetReport, ...] = ()

    @property
    def best_subset(self) -> SubsetReport | None:
        """The smallest of the subsets with the highest recall; None without judged questions."""
        return min(self.subsets, key=lambda one: (-one.recall, len(one.sources), one.sources), default=None)

    @property
    def redundant(self) -> tuple[str, ...]:
        """Sources without which recall is no worse. Each is judged alone: removing several may lower recall."""
        return tuple(source.name for source in self.sources if source.adds is not None and source.adds <= 0)

    def __str__(self) -> str:
        width = max([len("source"), *(len(source.name) for source in self.sources)])
        recall = "" if self.recall is None else f", recall@{self.top_k} {self.recall:.3f}"
        lines = [
            f"questions {self.questions}, judged {self.judged}{recall}",
            f"{'source':{width}}  {'hits':>6}  {'alone':>6}  {'adds':>6}",
        ]
        lines += [
            f"{source.name:{width}}  {source.hits:6.1f}  {source.alone:6.0%}  {_signed(source.adds):>6}"
            for source in self.sources
        ]
        if self.pairs:
            names = [f"{pair.first} & {pair.second}" for pair in self.pairs]
            width = max(len("pair"), *map(len, names))
            lines.append(f"{'pair':{width}}  {'rank correlation':>16}  {'common hits':>11}")
            lines += [
                f"{name:{width}}  {_signed(pair.correlation):>16}  {pair.overlap:11.0%}"
                for name, pair in zip(names, self.pairs, strict=True)
            ]
        return "\n".join(lines)


def diagnose(observations: Iterable[Observation], fuser: Fuser, *, top_k: int = 10) -> SignalReport:
    """Report how much each source adds.

    `alone` is the share of a source's hits that no other found. `adds` is recall@top_k of the fused ranking minus the
    recall without that source, over the judged questions. The rank correlation of two sources is Kendall's tau-b over
    all hits of either, where hits that a source did not find are ranked last; it is averaged over the questions.
    `subsets` are the recalls of every subset of the sources: do a few of them beat all? The rankings are those of the
    whole recipe, so a source that starts from the hits of others does so in every subset.

    >>> from hopweave.fusion.reciprocal_rank import ReciprocalRank
    >>> from hopweave.hit import Hit
    >>> rankings = {"text": [Hit("a"), Hit("b")], "vector": [Hit("c"), Hit("a")]}
    >>> print(diagnose([Observation(Query("ferries"), rankings, {"a", "c"})], ReciprocalRank(), top_k=2))
    questions 1, judged 1, recall@2 1.000
    source    hits   alone    adds
    text       2.0     50%   +0.00
    vector     2.0     50%   +0.50
    pair           rank correlation  common hits
    text & vector             -0.33          33%
    """
    if top_k < 1:
        raise ValueError(f"top_k: {top_k} is not allowed: it must be at least 1")
    seen = list(observations)
    found = [{name: [hit.id for hit in checked(one.rankings[name])] for name in sorted(one.rankings)} for one in seen]
    names = sorted({name for ids in found for name in ids})
    judged = [one for one in seen if one.relevant]
    recall = _recall(judged, fuser, top_k)
    without = {name: _recall(judged, fuser, top_k, {*names} - {name}) for name in names}
    adds = {name: None if recall is None or less is None else recall - less for name, less in without.items()}
    return SignalReport(
        questions=len(seen),
        judged=len(judged),
        top_k=top_k,
        recall=recall,
        sources=tuple(_source(name, found, adds[name]) for name in names),
        pairs=tuple(_pair(first, second, found) for first, second in combinations(names, 2)),
        subsets=tuple(_subsets(judged, fuser, top_k, names)),
    )


def _source(name: str, found: Sequence[Mapping[str, Sequence[str]]], adds: float | None) -> SourceReport:
    hits = alone = 0
    for ids in found:
        others = {key for other, keys in ids.items() if other != name for key in keys}
        hits += len(ids.get(name, ()))
        alone += sum(key not in others for key in ids.get(name, ()))
    return SourceReport(name, hits / len(found), alone / hits if hits else 0.0, adds)


def _subsets(judged: Sequence[Observation], fuser: Fuser, top_k: int, names: Sequence[str]) -> Iterator[SubsetReport]:
    """The recall of every subset; of many sources only of the small and the large ones, as there are too many."""
    few = len(names) <= _ALL_SUBSETS_OF
    for size in range(1, len(names) + 1):
        if few or size <= 2 or size >= len(names) - 1:
            for some in combinations(names, size):
                recall = _recall(judged, fuser, top_k, {*some})
                if recall is not None:
                    yield SubsetReport(some, recall)


def _recall(
    judged: Sequence[Observation], fuser: Fuser, top_k: int, among: Collection[str] | None = None
) -> float | None:
    if not judged:
        return None
    shares = []
    for one in judged:
        relevant = set(one.relevant or ())
        kept = {name: hits for name, hits in one.rankings.items() if among is None or name in among}
        best = {hit.id for hit in fuser.fuse(kept, one.query)[:top_k]}
        shares.append(len(relevant & best) / len(relevant))
    return fmean(shares)


def _pair(first: str, second: str, found: Sequence[Mapping[str, Sequence[str]]]) -> PairReport:
    both = [(ids[first], ids[second]) for ids in found if ids.get(first) and ids.get(second)]
    taus = [tau for one, other in both if (tau := _kendall(one, other)) is not None]
    overlaps = [len({*one} & {*other}) / len({*one} | {*other}) for one, other in both]
    return PairReport(first, second, fmean(taus) if taus else None, fmean(overlaps) if overlaps else 0.0)


def _kendall(first: Sequence[str], second: Sequence[str]) -> float | None:
    from scipy.stats import kendalltau

    union = sorted({*first, *second})
    ranks = []
    for ranking in (first, second):
        place = {key: rank for rank, key in enumerate(ranking)}
        ranks.append([place.get(key, len(ranking)) for key in union])
    if any(len(set(places)) < 2 for places in ranks):  # tau is undefined for a constant list
        return None
    tau = float(kendalltau(*ranks).statistic)
    return None if math.isnan(tau) else tau


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.2f}"
