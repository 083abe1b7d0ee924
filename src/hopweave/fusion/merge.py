"""Merging: several sources found the same document, and fusion returns one hit for it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from hopweave.component import Rankings
from hopweave.hit import Hit, Receipt, Scale
from hopweave.scores import checked, top_ids


class Occurrence(NamedTuple):
    """A hit in the ranking of one source; ranks start at 1. Occurrences sort by rank, then by source name."""

    rank: int
    source: str
    hit: Hit


def occurrences(rankings: Rankings) -> dict[str, list[Occurrence]]:
    """The occurrences of each id, ordered by source name. An id that is repeated in one ranking counts once.

    >>> [(one.rank, one.source) for one in occurrences({"vector": [Hit("b")], "text": [Hit("a"), Hit("b")]})["b"]]
    [(2, 'text'), (1, 'vector')]
    """
    return _by_id(in_name_order(rankings))


def in_name_order(rankings: Rankings) -> dict[str, list[Hit]]:
    """Rankings ordered by the names of their sources and checked: every id once, and finite scores.

    >>> list(in_name_order({"vector": [Hit("b")], "text": [Hit("a")]}))
    ['text', 'vector']
    """
    return {source: checked(rankings[source]) for source in sorted(rankings)}


def _by_id(lists: Mapping[str, Sequence[Hit]], wanted: Collection[str] | None = None) -> dict[str, list[Occurrence]]:
    found: dict[str, list[Occurrence]] = {}
    for source, hits in lists.items():
        for rank, hit in enumerate(hits, start=1):
            if wanted is None or hit.id in wanted:
                found.setdefault(hit.id, []).append(Occurrence(rank, source, hit))
    return found


def in_order(
    lists: Mapping[str, Sequence[Hit]],
    scores: Mapping[str, float | None],
    receipt: Callable[[str], Receipt],
    scale: Scale | None,
    top_k: int | None = None,
) -> list[Hit]:
    """One hit per id, best score first; hits without a score come last. `lists` come from `in_name_order`.

    Ties go to the better best rank, then to the smaller id. Only the first `top_k` are made, with the `receipt` that
    says where their score comes from.

    >>> lists = in_name_order({"text": [Hit("b"), Hit("a")], "vector": [Hit("c")]})
    >>> [hit.id for hit in in_order(lists, dict.fromkeys("abc", 0.5), lambda key: Receipt("same", None, 0.5), "unit")]
    ['b', 'c', 'a']
    """
    best: dict[str, int] = {}
    for hits in lists.values():
        for rank, hit in enumerate(hits, start=1):
            if rank < best.get(hit.id, rank + 1):
                best[hit.id] = rank
    scored = top_ids({key: score for key, score in scores.items() if score is not None}, best, top_k)
    unscored = sorted((key for key, score in scores.items() if score is None), key=lambda key: (best[key], key))
    order = [*(key for key, _ in scored), *unscored][:top_k]
    found = _by_id(lists, set(order))
    return [_fused(found[key], receipt(key), scale) for key in order]


def _fused(places: Sequence[Occurrence], receipt: Receipt, scale: Scale | None) -> Hit:
    """The occurrences of one id as one hit, the best ranked preferred; receipts stay in the order of source names."""
    hit = places[0].hit
    receipts = hit.receipts
    if len(places) > 1:
        hit = reduce(_completed, [one.hit for one in sorted(places)])
        receipts = reduce(all_receipts, [one.hit.receipts for one in places])
    return Hit(hit.id, receipt.after, hit.text, hit.metadata, hit.vector, scale, hit.origin, (*receipts, receipt))


def merged(first: Hit, second: Hit, *, prefer_second: bool = False) -> Hit:
    """One hit out of two of the same id: the preferred one, with what it lacks taken from the other.

    What can be lacking is text, metadata, vector and origin. The receipts of both are kept.

    >>> hit = merged(Hit("a", text="Ferries."), Hit("a", text="?", metadata={"type": "notice"}))
    >>> hit.text, hit.metadata
    ('Ferries.', {'type': 'notice'})
    """
    hit = _completed(second, first) if prefer_second else _completed(first, second)
    receipts = all_receipts(first.receipts, second.receipts)
    return hit if receipts == hit.receipts else hit._replace(receipts=receipts)


def _completed(hit: Hit, other: Hit) -> Hit:
    """A hit, with what it lacks taken from another of the same id."""
    if (
        (hit.text or not other.text)
        and (hit.metadata or not other.metadata)
        and (other.vector is None or hit.vector is not None)
        and (other.origin is None or hit.origin is not None)
    ):
        return hit  # the usual case in large fusions, and faster than a copy
    return hit._replace(
        text=hit.text or other.text,
        metadata=hit.metadata or other.metadata,
        vector=other.vector if hit.vector is None else hit.vector,
        origin=other.origin if hit.origin is None else hit.origin,
    )


def all_receipts(first: tuple[Receipt, ...], second: tuple[Receipt, ...]) -> tuple[Receipt, ...]:
    """The receipts of two hits without repetition: a source that builds on another may pass on its receipts.

    >>> text, graph = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    >>> [receipt.stage for receipt in all_receipts((text,), (text, graph))]
    ['bm25', 'pagerank']
    """
    return first + tuple([receipt for receipt in second if receipt not in first]) if second else first
