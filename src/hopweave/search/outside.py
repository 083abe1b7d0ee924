"""Lists from outside: their order is the truth, their numbers are hints."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from hopweave.hit import Hit, Receipt, Scale
from hopweave.scores import checked, ranked

GivenScale = Scale | Literal["distance"]
"""What the numbers of a list are: the scale of a hit, or distances, of which the smallest is the best."""


def by_order(hits: Sequence[Hit], scale: GivenScale | None = None) -> list[Hit]:
    """Hits of somebody else's list, best first, with scores that fall along it.

    Scores that fall are similarities and stay as they are. Scores that rise are distances: each becomes
    min + max - score, so that they keep their range and spacing. In any other order they say nothing, and hit i of n
    counts 1 - i / n. A receipt says which. `scale` says what the numbers are, where the list is in no order.
    Hits with receipts come from hopweave and are left alone.

    >>> [hit.score for hit in by_order([Hit("a", 0.25), Hit("b", 0.5), Hit("c", 1.0)])]
    [1.0, 0.75, 0.25]
    >>> [hit.score for hit in by_order([Hit("a", 0.5), Hit("b", 0.9), Hit("c", 0.1), Hit("d")])]
    [1.0, 0.75, 0.5, 0.25]
    >>> [hit.id for hit in by_order([Hit("a", 0.9), Hit("b", 0.1)], scale="distance")]
    ['b', 'a']
    """
    hits = checked(hits)
    scores = [hit.score for hit in hits if hit.score is not None]
    if not scores or any(hit.receipts for hit in hits):
        return hits
    if scale is not None and len(scores) == len(hits):
        known = hits if scale == "distance" else [hit._replace(scale=scale) for hit in hits]
        return ranked(_reflected(known) if scale == "distance" else known)
    if len(scores) == len(hits) and all(one >= other for one, other in pairwise(scores)):
        return hits
    if len(scores) == len(hits) and all(one <= other for one, other in pairwise(scores)):
        return _reflected(hits)
    return [_read(hit, 1 - place / len(hits), "no order: counts by rank") for place, hit in enumerate(hits)]


def _reflected(hits: Sequence[Hit]) -> list[Hit]:
    scores = [hit.score or 0.0 for hit in hits]
    ends = min(scores) + max(scores)
    return [_read(hit, ends - score, "distances: min + max - score") for hit, score in zip(hits, scores, strict=True)]


def _read(hit: Hit, score: float, formula: str) -> Hit:
    return hit._replace(score=score, scale=None, receipts=(Receipt("scale", hit.score, score, {"formula": formula}),))


def merged_by_place(own: Sequence[Hit], fused: Sequence[Hit], unknown: Collection[str]) -> list[Hit]:
    """The fused hits, but those that a graph has not seen keep the place that the user's own retrievers gave them.

    Known hits fill the other places in fused order. A hit that keeps its place takes the score of the hit before it,
    or, as the first, of the next one that was fused.

    >>> own = [Hit("new", 0.9), Hit("a", 0.8), Hit("b", 0.1)]
    >>> fused = [Hit("b", 1.0), Hit("a", 0.5), Hit("new", 0.1)]
    >>> [(hit.id, hit.score) for hit in merged_by_place(own, fused, {"new"})]
    [('new', 1.0), ('b', 1.0), ('a', 0.5)]
    """
    by_id: Mapping[str, Hit] = {hit.id: hit for hit in [*own, *fused]}
    places = {place: hit.id for place, hit in enumerate(own) if hit.id in unknown}
    kept = set(places.values())
    known = [hit for hit in fused if hit.id not in kept]
    merged: list[Hit] = []
    while known or places:
        place = len(merged)
        key = places.pop(place, None) if known else places.pop(min(places))
        if key is None:
            merged.append(known.pop(0))
            continue
        neighbour = merged[-1] if merged else (known[0] if known else by_id[key])
        merged.append(by_id[key].rescored(neighbour.score, "coverage", place=place + 1, reason="not in the graph"))
    return merged
