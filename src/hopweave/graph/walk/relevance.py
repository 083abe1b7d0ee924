"""The relevance of documents by the sources that a walk starts from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hopweave.hit import Hit
from hopweave.knowledge import Ranking
from hopweave.scores import normalised, trust

Strengths = Mapping[str, float]
"""How relevant documents are, in [0, 1], by id; those that are not listed count 0."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant documents are to the whole question, and to its words outside the names that are linked."""

    to_question: Strengths
    beyond_names: Strengths
    other_words: str


class WeightedStrengths(NamedTuple):
    """The scores of a ranking normalised to [0, 1], and how much it can be trusted."""

    trust: float
    strengths: Strengths


def strengths_of(hits: Sequence[Hit]) -> WeightedStrengths:
    """The strengths of a ranking; 1 / rank if there are no scores."""
    scored = all(hit.score is not None for hit in hits)
    ranking = [(hit.id, (hit.score or 0.0) if scored else 1 / rank) for rank, hit in enumerate(hits, start=1)]
    receipts = hits[0].receipts if hits else ()
    return normalised_strengths(ranking, receipts[-1].details if receipts else {})


def normalised_strengths(ranking: Ranking, said: Mapping[str, Any]) -> WeightedStrengths:
    """The strengths of a ranking of ids; `said` is what the receipts say of all of it."""
    scores = [score for _, score in ranking]
    strengths = zip((key for key, _ in ranking), normalised(scores), strict=True)
    return WeightedStrengths(trust(scores, said.get("above_chance")), dict(strengths))


def weighted_mean(rankings: Iterable[WeightedStrengths]) -> dict[str, float]:
    """The mean strength of each document, each ranking weighted by the trust in it; all alike if there is none."""
    rankings = list(rankings)
    weights = [one.trust for one in rankings]
    if not any(weights):
        weights = [1.0] * len(rankings)
    means: dict[str, float] = {}
    total = sum(weights)
    for weight, one in zip(weights, rankings, strict=True):
        for key, strength in one.strengths.items():
            means[key] = means.get(key, 0.0) + strength * weight / total
    return means
