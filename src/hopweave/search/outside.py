"""Hits that the knowledge has not seen keep the place that somebody else's retrievers gave them."""

from collections.abc import Collection, Mapping, Sequence

from hopweave.hit import Hit


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
