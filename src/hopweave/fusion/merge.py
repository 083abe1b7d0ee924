"""One hit out of the several that different sources found."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from hopweave.component import Rankings
from hopweave.hit import Hit, Receipt, Scale
from hopweave.scores import checked, top_ids


class Found(NamedTuple):
    """A hit as one source found it, at a rank counted from 1. The smallest of several is the best."""

    rank: int
    source: str
    hit: Hit


def gathered(rankings: Rankings) -> dict[str, list[Found]]:
    """Where each id was found, by source name; a hit that stands twice in one list counts once.

    >>> [one[:2] for one in gathered({"vector": [Hit("b")], "text": [Hit("a"), Hit("b")]})["b"]]
    [(2, 'text'), (1, 'vector')]
    """
    found: dict[str, list[Found]] = {}
    for source in sorted(rankings):
        for rank, hit in enumerate(checked(rankings[source]), start=1):
            found.setdefault(hit.id, []).append(Found(rank, source, hit))
    return found


def in_order(found: Mapping[str, Sequence[Found]], receipts: Mapping[str, Receipt], scale: Scale | None) -> list[Hit]:
    """One hit per id with the score its receipt arrives at, best first; hits without a score come last.

    Ties go to the better best rank, then to the smaller id.

    >>> found = gathered({"text": [Hit("b"), Hit("a")], "vector": [Hit("c")]})
    >>> [hit.id for hit in in_order(found, {key: Receipt("same", None, 0.5) for key in found}, "unit")]
    ['b', 'c', 'a']
    """
    best = {key: min(places).rank for key, places in found.items()}
    scored = top_ids({key: one.after for key, one in receipts.items() if one.after is not None}, best)
    unscored = sorted((key for key, one in receipts.items() if one.after is None), key=lambda key: (best[key], key))
    return [merged(found[key], receipts[key], scale) for key in (*(key for key, _ in scored), *unscored)]


def merged(places: Sequence[Found], receipt: Receipt, scale: Scale | None) -> Hit:
    """One hit with the score of the receipt. What it says comes from the source that ranked it best.

    What that source left out (text, metadata, vector, origin) comes from the next best. Receipts of all sources stay.

    >>> places = gathered({"graph": [Hit("a")], "text": [Hit("x"), Hit("a", text="Ferries.")]})["a"]
    >>> merged(places, Receipt("sum", None, 0.5), "unit").text
    'Ferries.'
    """
    best = places[0].hit
    receipts = best.receipts
    if len(places) > 1:
        best = reduce(completed, [one.hit for one in sorted(places)])
        receipts = reduce(together, [one.hit.receipts for one in places])
    return Hit(best.id, receipt.after, best.text, best.metadata, best.vector, scale, best.origin, (*receipts, receipt))


def completed(hit: Hit, other: Hit) -> Hit:
    """A hit, with what it lacks (text, metadata, vector, origin) taken from another of the same id.

    >>> completed(Hit("a", text="Ferries."), Hit("a", text="?", metadata={"type": "notice"})).metadata
    {'type': 'notice'}
    """
    if (
        (other.vector is None or hit.vector is not None)
        and (other.origin is None or hit.origin is not None)
        and (hit.text or not other.text)
        and (hit.metadata or not other.metadata)
    ):
        return hit
    return hit._replace(
        text=hit.text or other.text,
        metadata=hit.metadata or other.metadata,
        vector=other.vector if hit.vector is None else hit.vector,
        origin=other.origin if hit.origin is None else hit.origin,
    )


def together(receipts: tuple[Receipt, ...], others: tuple[Receipt, ...]) -> tuple[Receipt, ...]:
    """The receipts of two sources, each told once: one that builds on another may hand on that one's.

    >>> first, second = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    >>> [receipt.stage for receipt in together((first,), (first, second))]
    ['bm25', 'pagerank']
    """
    return receipts + tuple(receipt for receipt in others if receipt not in receipts)
