"""What a score is made of."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hopweave.hit import Hit, Receipt


class Part(NamedTuple):
    """What one signal gave to a fused score."""

    signal: str
    amount: float


def score_parts(hit: Hit) -> list[Part]:
    """The parts of a hit's fused score, as its last fuser's receipt tells them; empty if no part is known.

    weighted: share · normalised strength of each signal. reciprocal_rank: weight / (k + rank) of each source.
    confirmatory: the base and what confirmation changed. A hit that was never fused is all of its first receipt's.
    Stages after the fuser may change the score; the parts stay those of the evidence.

    >>> fused = Hit("a", 0.032).rescored(1 / 61 + 1 / 62, "reciprocal_rank", k=60, text_rank=1, graph_rank=2)
    >>> [(part.signal, round(part.amount, 4)) for part in score_parts(fused)]
    [('text', 0.0164), ('graph', 0.0161)]
    """
    for receipt in reversed(hit.receipts):
        for mark, parts_of in _FUSERS.items():
            if mark in receipt.details:
                return parts_of(receipt, receipt.details)
    found = hit.receipts[0].after if hit.receipts else None
    return [] if found is None else [Part(hit.receipts[0].stage, found)]


def _weighted(receipt: Receipt, details: Mapping[str, Any]) -> list[Part]:  # noqa: ARG001 - all shapes are called alike
    return [Part(signal, known["part"]) for signal, known in details["signals"].items() if known["part"]]


def _reciprocal_rank(receipt: Receipt, details: Mapping[str, Any]) -> list[Part]:  # noqa: ARG001 - the same
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
    "signals": _weighted,
    "k": _reciprocal_rank,
    "confirmed_by": _confirmatory,
}
"""How to read a fuser's receipt, by the detail that only its receipts have."""
