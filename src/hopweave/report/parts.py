"""The parts of a fused score, by signal."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hopweave.hit import Hit, Receipt


class Part(NamedTuple):
    """The contribution of one signal to a fused score."""

    signal: str
    amount: float


def score_parts(hit: Hit) -> list[Part]:
    """The parts of a hit's fused score, from the receipt of its last fuser; empty if there is none.

    weighted, trust_weighted: share · normalised strength of each signal. reciprocal_rank: weight / (k + rank) of
    each source. confirmatory: the base and what confirmation changed. The score of a hit that was never fused is
    one part, from its first receipt. Stages after the fuser may change the score, but not the parts.

    >>> fused = Hit("a", 0.032).rescored(1 / 61 + 1 / 62, "reciprocal_rank", k=60, text_rank=1, graph_rank=2)
    >>> [(part.signal, round(part.amount, 4)) for part in score_parts(fused)]
    [('text', 0.0164), ('graph', 0.0161)]
    """
    if not hit.receipts:
        return []
    receipt = hit.receipts[_fuser_receipt(hit)]
    if receipt.stage in _FUSERS:
        return _FUSERS[receipt.stage](receipt, receipt.details)
    return [] if receipt.after is None else [Part(receipt.stage, receipt.after)]


def later_stages(hit: Hit) -> list[str]:
    """The stages that changed the score after it was fused, or after it was found, in order.

    >>> found = Hit("a").rescored(0.8, "vector", rank=1)
    >>> later_stages(found.rescored(0.8, "deferral").rescored(0.4, "time_decay", decay=0.5))
    ['time_decay']
    """
    after = hit.receipts[_fuser_receipt(hit) + 1 :] if hit.receipts else ()
    return list(dict.fromkeys(receipt.stage for receipt in after if receipt.before != receipt.after))


def _fuser_receipt(hit: Hit) -> int:
    """The position of the receipt that has the parts: that of the last fuser, or else the first."""
    return max((place for place, receipt in enumerate(hit.receipts) if receipt.stage in _FUSERS), default=0)


def _weighted(receipt: Receipt, details: Mapping[str, Any]) -> list[Part]:  # noqa: ARG001 - one signature for all fusers
    return [Part(signal, known["part"]) for signal, known in details["signals"].items() if known["part"]]


def _reciprocal_rank(receipt: Receipt, details: Mapping[str, Any]) -> list[Part]:  # noqa: ARG001 - as above
    ranks = {name.removesuffix("_rank"): rank for name, rank in details.items() if name.endswith("_rank")}
    weights = {source: details.get(f"{source}_weight", 1.0) for source in ranks}
    return [Part(source, weights[source] / (details["k"] + rank)) for source, rank in ranks.items() if weights[source]]


def _confirmatory(receipt: Receipt, details: Mapping[str, Any]) -> list[Part]:
    if receipt.after is None:
        return []
    confirmed = " + ".join(details["confirmed_by"])
    if details["base"] is None:
        return [Part(confirmed, receipt.after)]
    base = min(max(details["base"], 0.0), receipt.after)
    rest = [Part(f"confirmed by {confirmed}", receipt.after - base)] if receipt.after > base else []
    return [Part("base", base), *rest]


_FUSERS: dict[str, Callable[[Receipt, Mapping[str, Any]], list[Part]]] = {
    "weighted": _weighted,
    "trust_weighted": _weighted,
    "reciprocal_rank": _reciprocal_rank,
    "confirmatory": _confirmatory,
}
"""Functions that read the parts from the receipt of a fuser."""
