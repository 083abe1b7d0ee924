"""Merging: several sources found the same document, and fusion returns one hit for it."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from hopweave.component import Rankings
from hopweave.hit import Hit, Receipt, Scale
from hopweave.scores import checked, top_ids


def in_name_order(rankings: Rankings) -> dict[str, list[Hit]]:
    """Rankings ordered by the names of their sources and checked: every id once, and finite scores.

    >>> list(in_name_order({"vector": [Hit("b")], "text": [Hit("a")]}))
    ['text', 'vector']
    """
    return {source: checked(rankings[source]) for source in sorted(rankings)}


def sources_by_id(lists: Mapping[str, Sequence[Hit]]) -> dict[str, list[str]]:
    """The sources that found each id, in their order.

    >>> sources_by_id({"text": [Hit("a"), Hit("b")], "vector": [Hit("b")]})
    {'a': ['text'], 'b': ['text', 'vector']}
    """
    sources: dict[str, list[str]] = {}
    for source, hits in lists.items():
        for hit in hits:
            sources.setdefault(hit.id, []).append(source)
    return sources


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
    ranks: dict[str, int] = {}
    best: dict[str, Hit] = {}
    for hits in lists.values():
        for rank, hit in enumerate(hits, start=1):
            key = hit.id
            if key not in ranks or rank < ranks[key]:
                ranks[key], best[key] = rank, hit
    scored = top_ids({key: score for key, score in scores.items() if score is not None}, ranks, top_k)
    unscored = sorted((key for key, score in scores.items() if score is None), key=lambda key: (ranks[key], key))
    order = [*(key for key, _ in scored), *unscored][:top_k]
    found: dict[str, list[Hit]] = {key: [] for key in order}
    for hits in lists.values():
        for hit in hits:
            if hit.id in found:
                found[hit.id].append(hit)
    return [_fused(best[key], found[key], receipt(key), scale) for key in order]


def _fused(hit: Hit, found: Sequence[Hit], receipt: Receipt, scale: Scale | None) -> Hit:
    """The best ranked hit of an id, with what it lacks taken from the others, and with the receipts of all.

    What can be lacking is text, metadata, vector and origin. Receipts stay in the order of the sources.
    """
    receipts = hit.receipts
    if len(found) > 1:
        receipts = reduce(all_receipts, [one.receipts for one in found])
        hit = reduce(_completed, found, hit)
    return Hit(hit.id, receipt.after, hit.text, hit.metadata, hit.vector, scale, hit.origin, (*receipts, receipt))


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
