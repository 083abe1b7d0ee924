"""Weighted fusion: a weighted sum of normalised scores, with weights by intent or by source."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, field_validator

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import by_id, in_order
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
        lists = {name: checked(rankings[name]) for name in sorted(rankings)}
        evidence = self._evidence(lists)
        missing = sorted(signal for signal, weight in weights.items() if weight > 0 and signal not in evidence)
        common = {"normalisation": self.normalisation, **({"missing": missing} if missing else {}), **details}
        found = by_id(lists)
        unscored = {key for strengths in evidence.values() for key, one in strengths.items() if one is None}
        sums = _Sums(evidence, weights, common)
        receipts = {
            key: Receipt(stage, None, *(_partial(key, evidence, weights, common) if key in unscored else sums.of(key)))
            for key in found
        }
        return in_order(found, receipts, None if self.normalisation == "none" else "unit")

    def _weights(self, query: Query) -> Mapping[str, float]:
        if self.weights is not None:
            return self.weights
        return (query.intent.weights if query.intent else None) or NO_INTENT.weights

    def _signal(self, source: str) -> str:
        if self.weights is not None:
            return source
        return self.signals[source] if source in self.signals else USUAL_SIGNALS[source]

    def _evidence(self, lists: Mapping[str, list[Hit]]) -> _Evidence:
        evidence: _Evidence = {signal: {} for signal in sorted({self._signal(name) for name in lists})}
        for name, hits in lists.items():
            strengths = evidence[self._signal(name)]
            scored = [(hit.id, float(hit.score)) for hit in hits if hit.score is not None]
            values = normalised([raw for _, raw in scored], self.normalisation)
            for (key, raw), value in zip(scored, values, strict=True):
                known = strengths.get(key)
                if known is None or value > known.value:
                    strengths[key] = _Strength(name, raw, value)
            for hit in hits:
                strengths.setdefault(hit.id, None)
        return evidence


class _Sums:
    """Scores of the hits that every source which found them has scored, and what explains them."""

    def __init__(self, evidence: _Evidence, weights: _Shares, common: Mapping[str, Any]) -> None:
        self._common, self._order = common, list(weights)
        self._signals = [
            (signal, evidence[signal], share, _part(_NOT_FOUND, share))
            for signal, share in _shares(weights, evidence).items()
        ]
        self._methods: dict[tuple[str, ...], str] = {}

    def of(self, key: str) -> tuple[float | None, dict[str, Any]]:
        """The score of a hit, and what explains it."""
        parts, amounts, found_by = {}, [], []
        for signal, strengths, share, absent in self._signals:
            strength = strengths.get(key)
            if strength is None:
                parts[signal] = absent
            else:
                parts[signal] = part = _part(strength, share)
                amounts.append(part["part"])
                found_by.append(signal)
        return math.fsum(amounts) if amounts else None, {
            "method": self._method(tuple(found_by)),
            "signals": parts,
            **self._common,
        }

    def _method(self, found_by: tuple[str, ...]) -> str:
        method = self._methods.get(found_by)
        if method is None:
            method = self._methods[found_by] = "+".join([signal for signal in self._order if signal in found_by])
        return method


def _partial(
    key: str, evidence: _Evidence, weights: _Shares, common: Mapping[str, Any]
) -> tuple[float | None, dict[str, Any]]:
    """The score of a hit that some source found and did not score: the signals that did share its weight."""
    unscored = [signal for signal, strengths in evidence.items() if strengths.get(key, _NOT_FOUND) is None]
    score, details = _Sums({name: one for name, one in evidence.items() if name not in unscored}, weights, common).of(
        key
    )
    return score, {**details, "unscored": unscored}


def _part(strength: _Strength, share: float) -> dict[str, Any]:
    source, raw, value = strength
    return {"source": source, "raw": raw, "normalised": value, "weight": share, "part": share * value}


def _shares(weights: Mapping[str, float], signals: Iterable[str]) -> _Shares:
    """The weights of these signals, scaled so that they sum to 1."""
    chosen = {signal: weights.get(signal, 0.0) for signal in signals}
    total = math.fsum(chosen.values())
    return {signal: weight / total if total else 0.0 for signal, weight in chosen.items()}
