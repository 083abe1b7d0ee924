"""Weighted fusion: a weighted sum of normalised scores, with weights by intent or by source."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import in_order, occurrences
from hopweave.hit import Hit, Receipt
from hopweave.query import NO_INTENT, Query, Signal
from hopweave.scores import Normalisation, checked, normalised

USUAL_SIGNALS: Mapping[str, Signal] = {
    **dict.fromkeys(("vector", "dense", "embedding"), "embedding"),
    **dict.fromkeys(("text", "bm25", "keyword", "full_text", "code", "prose"), "text"),
    **dict.fromkeys(("graph", "pagerank", "graph_boost"), "graph"),
    "intent_edges": "intent_edges",
}
"""The signal of sources with these names, unless the fuser assigns another one."""


class _Strength(NamedTuple):
    source: str | None
    raw: float | None
    value: float


_NOT_FOUND = _Strength(None, None, 0.0)

_Shares = Mapping[str, float]

_Evidence = dict[str, dict[str, _Strength | None]]
"""By signal and id; None where a source found the hit but gave it no score."""


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
        self.check_sources(rankings)
        common = {} if self.weights is not None else {"intent": query.intent.name if query.intent else None}
        return self.summed(self.kind, rankings, self._weights(query), common)

    def summed(
        self, stage: str, rankings: Rankings, weights: Mapping[str, float], details: Mapping[str, Any]
    ) -> list[Hit]:
        """The weighted sum of these rankings; `weights` go by signal, `stage` and `details` are for the receipts."""
        evidence = self._evidence(rankings)
        missing = sorted(signal for signal, weight in weights.items() if weight > 0 and signal not in evidence)
        common = {"normalisation": self.normalisation, **({"missing": missing} if missing else {}), **details}
        found = occurrences(rankings)
        shares = _shares(weights, evidence)
        receipts = {key: Receipt(stage, None, *self._score(key, evidence, shares, weights, common)) for key in found}
        return in_order(found, receipts, None if self.normalisation == "none" else "unit")

    def _weights(self, query: Query) -> Mapping[str, float]:
        if self.weights is not None:
            return self.weights
        return (query.intent.weights if query.intent else None) or NO_INTENT.weights

    def _signal(self, source: str) -> str:
        if self.weights is not None:
            return source
        return self.signals[source] if source in self.signals else USUAL_SIGNALS[source]

    def _evidence(self, rankings: Rankings) -> _Evidence:
        evidence: _Evidence = {signal: {} for signal in sorted({self._signal(name) for name in rankings})}
        for name in sorted(rankings):
            strengths = evidence[self._signal(name)]
            hits = checked(rankings[name])
            scored = [(hit.id, float(hit.score)) for hit in hits if hit.score is not None]
            values = normalised([raw for _, raw in scored], self.normalisation)
            for (key, raw), value in zip(scored, values, strict=True):
                known = strengths.get(key)
                if known is None or value > known.value:
                    strengths[key] = _Strength(name, raw, value)
            for hit in hits:
                strengths.setdefault(hit.id, None)
        return evidence

    def _score(
        self, key: str, evidence: _Evidence, shares: _Shares, weights: Mapping[str, float], common: dict[str, Any]
    ) -> tuple[float | None, dict[str, Any]]:
        """The score of a hit, and what explains it."""
        unscored = [signal for signal, strengths in evidence.items() if strengths.get(key, _NOT_FOUND) is None]
        if unscored:
            shares = _shares(weights, [signal for signal in evidence if signal not in unscored])
        parts: dict[str, dict[str, Any]] = {}
        amounts: list[float] = []
        for signal, share in shares.items():
            source, raw, value = evidence[signal].get(key) or _NOT_FOUND
            part = share * value
            parts[signal] = {"source": source, "raw": raw, "normalised": value, "weight": share, "part": part}
            if source is not None:
                amounts.append(part)
        method = "+".join([signal for signal in weights if signal in parts and parts[signal]["source"] is not None])
        details = {"method": method, "signals": parts, **common}
        if unscored:
            details["unscored"] = unscored
        return math.fsum(amounts) if amounts else None, details


def _shares(weights: Mapping[str, float], signals: Iterable[str]) -> _Shares:
    """The weights of these signals, scaled so that they sum to 1."""
    chosen = {signal: weights.get(signal, 0.0) for signal in signals}
    total = math.fsum(chosen.values())
    return {signal: weight / total if total else 0.0 for signal, weight in chosen.items()}
