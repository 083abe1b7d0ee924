"""Weighted fusion: a weighted sum of normalised scores, with weights by intent or by source."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import in_name_order, in_order
from hopweave.hit import Hit, Receipt
from hopweave.query import NO_INTENT, Query, Signal
from hopweave.scores import Normalisation, normalised

USUAL_SIGNALS: Mapping[str, Signal] = {
    **dict.fromkeys(("vector", "dense", "embedding"), "embedding"),
    **dict.fromkeys(("text", "bm25", "keyword", "full_text", "code", "prose"), "text"),
    **dict.fromkeys(("graph", "pagerank", "graph_boost"), "graph"),
    "intent_edges": "intent_edges",
}
"""The signal of sources with these names, unless the fuser assigns another one."""


_Strength = tuple[str | None, float | None, float]
"""The source that found a hit, its score there, and that score in [0, 1]."""

_NOT_FOUND: _Strength = (None, None, 0.0)

_Shares = Mapping[str, float]

SignalStrengths = dict[str, dict[str, _Strength | None]]
"""Strengths by signal and id; None where a source found the hit but gave it no score."""


class Weighted(Fuser):
    """Score = sum over signals of weight · strength, with each signal's strengths in [0, 1] over its own hits.

    Without `weights`, the weights of the four signals (embedding, text, graph, intent_edges) are those of the intent of
    the question, or 0.40, 0.45, 0.15 and 0 without an intent. The weight of a missing signal is distributed over the
    others in proportion, and recorded in the receipt; so is, for one hit, the weight of a signal that found it without
    a score. Of two sources of one signal, the larger strength counts. A source that ran and did not find a hit gives it
    strength 0. Receipts have the part of each signal and, as `method`, the signals that found the hit.

    >>> rankings = {"text": [Hit("a", 4.0), Hit("b", 2.0), Hit("c", 0.0)], "vector": [Hit("b", 0.9), Hit("a", 0.5)]}
    >>> fused = Weighted(weights={"text": 0.4, "vector": 0.6}).fuse(rankings, Query("ferries"))
    >>> [(hit.id, round(hit.score, 4)) for hit in fused]
    [('b', 0.8), ('a', 0.4), ('c', 0.0)]
    >>> fused[0].receipts[-1].details["signals"]["text"]
    {'source': 'text', 'raw': 2.0, 'normalised': 0.5, 'weight': 0.4, 'part': 0.2}
    >>> fused[0].receipts[-1].details["method"], fused[2].receipts[-1].details["method"]
    ('text+vector', 'text')
    """

    kind: Literal["weighted"] = "weighted"
    weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = Field(
        default=None, description="Weight by source name; None: by intent. They need not sum to 1."
    )
    signals: dict[str, Signal] = Field(
        default_factory=dict, description="Signal by source name, for sources without one of the usual names."
    )
    normalisation: Normalisation = Field(
        default="min_max", description="How the scores of each source are scaled to [0, 1]."
    )

    @field_validator("weights")
    @classmethod
    def _some_weight_is_positive(cls, weights: dict[str, float] | None) -> dict[str, float] | None:
        if weights is not None and not any(weights.values()):
            raise ValueError("at least one weight must be above 0")
        return weights

    def check_sources(self, names: Iterable[str]) -> None:
        """Raise if a source has neither a weight nor a signal.

        >>> Weighted().check_sources(["text", "oracle"])
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: weighted: source 'oracle' carries no signal; name it in signals
        """
        for name in sorted(names):
            if self.weights is not None and name not in self.weights:
                raise RecipeError(f"weighted: source {name!r} has no weight; weights has {', '.join(self.weights)}")
            if self.weights is None and name not in self.signals and name not in USUAL_SIGNALS:
                raise RecipeError(f"weighted: source {name!r} carries no signal; name it in signals")

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:
        """Merge rankings into one, best first."""
        return self.best(rankings, query)

    def best(self, rankings: Rankings, query: Query, top_k: int | None = None) -> list[Hit]:
        """The first `top_k` hits of `fuse`, without receipts for the others."""
        self.check_sources(rankings)
        lists, common = in_name_order(rankings), {}
        if self.weights is None:
            common = {"intent": query.intent.name if query.intent else None}
        signals = {name: self._signal(name) for name in lists}
        evidence = strengths_by_signal(lists, signals, self.normalisation)
        return weighted_sum(self.kind, lists, evidence, self._weights(query), self.normalisation, common, top_k)

    def _weights(self, query: Query) -> Mapping[str, float]:
        if self.weights is not None:
            return self.weights
        return (query.intent.weights if query.intent else None) or NO_INTENT.weights

    def _signal(self, source: str) -> str:
        if self.weights is not None:
            return source
        return self.signals[source] if source in self.signals else USUAL_SIGNALS[source]


def weighted_sum(
    stage: str,
    lists: Mapping[str, list[Hit]],
    evidence: SignalStrengths,
    weights: Mapping[str, float],
    normalisation: Normalisation,
    details: Mapping[str, Any],
    top_k: int | None = None,
) -> list[Hit]:
    """The weighted sum of rankings; `weights` go by signal, `stage` and `details` are for the receipts."""
    missing = sorted(signal for signal, weight in weights.items() if weight > 0 and signal not in evidence)
    common = {"normalisation": normalisation, **({"missing_signals": missing} if missing else {}), **details}
    sums = _Sums(evidence, weights, common)
    partial = {
        key: _partial(key, evidence, weights, common)
        for strengths in evidence.values()
        for key, strength in strengths.items()
        if strength is None
    }
    scores = sums.scores() | {key: score for key, (score, _) in partial.items()}

    def receipt(key: str) -> Receipt:
        return Receipt(stage, None, scores[key], partial[key][1] if key in partial else sums.details(key))

    return in_order(lists, scores, receipt, None if normalisation == "none" else "unit", top_k)


def strengths_by_signal(
    lists: Mapping[str, list[Hit]], signals: Mapping[str, str], normalisation: Normalisation
) -> SignalStrengths:
    """The strength of every hit, by the signal of its source."""
    evidence: SignalStrengths = {signal: {} for signal in sorted(set(signals.values()))}
    for name, hits in lists.items():
        strengths = evidence[signals[name]]
        scored = [(hit.id, float(hit.score)) for hit in hits if hit.score is not None]
        values = normalised([raw for _, raw in scored], normalisation)
        for (key, raw), value in zip(scored, values, strict=True):
            known = strengths.get(key)
            if known is None or value > known[2]:
                strengths[key] = (name, raw, value)
        if len(scored) < len(hits):
            for hit in hits:
                strengths.setdefault(hit.id, None)
    return evidence


class _Sums:
    """Scores of the hits that every source which found them has scored, and what explains them."""

    def __init__(self, evidence: SignalStrengths, weights: _Shares, common: Mapping[str, Any]) -> None:
        self._common, self._order = common, list(weights)
        self._signals = [(signal, evidence[signal], share) for signal, share in _shares(weights, evidence).items()]

    def scores(self) -> dict[str, float | None]:
        """The score of every hit that some source has scored."""
        parts: dict[str, list[float]] = {}
        for _, strengths, share in self._signals:
            for key, strength in strengths.items():
                if strength is not None:
                    parts.setdefault(key, []).append(share * strength[2])
        return {key: math.fsum(amounts) for key, amounts in parts.items()}

    def details(self, key: str) -> dict[str, Any]:
        """The details of the receipt that explain the score of a hit."""
        parts = {signal: _part(strengths.get(key) or _NOT_FOUND, share) for signal, strengths, share in self._signals}
        found_by = [signal for signal in self._order if signal in parts and parts[signal]["source"] is not None]
        return {"method": "+".join(found_by), "signals": parts, **self._common}


def _partial(
    key: str, evidence: SignalStrengths, weights: _Shares, common: Mapping[str, Any]
) -> tuple[float | None, dict[str, Any]]:
    """The score of a hit that some source found and did not score: the signals that did share its weight."""
    unscored = [signal for signal, strengths in evidence.items() if strengths.get(key, _NOT_FOUND) is None]
    others = {name: {key: one[key]} if key in one else {} for name, one in evidence.items() if name not in unscored}
    sums = _Sums(others, weights, common)
    return sums.scores().get(key), {**sums.details(key), "unscored": unscored}


def _part(strength: _Strength, share: float) -> dict[str, Any]:
    source, raw, value = strength
    return {"source": source, "raw": raw, "normalised": value, "weight": share, "part": share * value}


def _shares(weights: Mapping[str, float], signals: Iterable[str]) -> _Shares:
    """The weights of these signals, scaled so that they sum to 1."""
    chosen = {signal: weights.get(signal, 0.0) for signal in signals}
    total = math.fsum(chosen.values())
    return {signal: weight / total if total else 0.0 for signal, weight in chosen.items()}
