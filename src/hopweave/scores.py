"""Arithmetic that every source, fuser and stage shares: order, range and meaning of scores."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from hopweave.errors import InvalidScore
from hopweave.hit import Hit, Receipt, Scale

Normalisation = Literal["min_max", "max", "sigmoid", "none"]


def checked(hits: Iterable[Hit]) -> list[Hit]:
    """The hits, each id once (its first appearance), or an error that names the hit whose score is not finite.

    >>> [hit.id for hit in checked([Hit("a", 1.0), Hit("b"), Hit("a", 0.5)])]
    ['a', 'b']
    >>> checked([Hit("a", float("nan"))])
    Traceback (most recent call last):
        ...
    hopweave.errors.InvalidScore: hit 'a' has score nan; scores must be finite numbers or None
    """
    hits = list(hits)
    scores = [hit[1] for hit in hits if hit[1] is not None]  # by place, here and below: names take twice as long
    if not math.isfinite(sum(scores)):  # or large ones add up to inf
        for hit in hits:
            if hit.score is not None and not math.isfinite(hit.score):
                raise InvalidScore(f"hit {hit.id!r} has score {hit.score}; scores must be finite numbers or None")
    if len({hit[0] for hit in hits}) == len(hits):
        return hits
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.id, hit)
    return list(first.values())


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Best score first. Equal scores keep their order; hits without a score come last, in their order.

    >>> [hit.id for hit in ranked([Hit("a"), Hit("b", 0.1), Hit("c", 0.9)])]
    ['c', 'b', 'a']
    """
    return sorted(hits, key=lambda hit: math.inf if hit.score is None else -hit.score)


def first(hits: Sequence[Hit], top_k: int | None) -> list[Hit]:
    """The first `top_k` hits, or all of them if it is None.

    >>> [hit.id for hit in first([Hit("a"), Hit("b")], 1)]
    ['a']
    >>> first([], 0)
    Traceback (most recent call last):
        ...
    ValueError: top_k must be at least 1, but got 0
    """
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, but got {top_k}")
    return list(hits[:top_k])


def top_ids(
    scores: Mapping[str, float], best_rank: Mapping[str, int], limit: int | None = None
) -> list[tuple[str, float]]:
    """Ids by score; ties go to the better best rank, then to the smaller id.

    >>> top_ids({"b": 1.0, "a": 1.0, "c": 2.0}, {"a": 2, "b": 1, "c": 5})
    [('c', 2.0), ('b', 1.0), ('a', 1.0)]
    """
    order = sorted(scores.items(), key=lambda pair: (-pair[1], best_rank[pair[0]], pair[0]))
    return order[:limit]


def normalised(scores: Sequence[float], method: Normalisation = "min_max") -> list[float]:
    """Scores brought to [0, 1] over their own list.

    min_max: (s - min) / (max - min). max: s / max, negatives to 0. sigmoid: 1 / (1 + e^-s). none: as they are.
    A list whose scores are all equal keeps its strength: s itself where it lies in (0, 1], else 1.

    >>> normalised([4.0, 2.0, 0.0])
    [1.0, 0.5, 0.0]
    >>> normalised([0.7]), normalised([12.0, 12.0])
    ([0.7], [1.0, 1.0])
    """
    if not scores or method == "none":
        return list(scores)
    if method == "sigmoid":
        return [sigmoid(score) for score in scores]
    low, high = min(scores), max(scores)
    if low == high:
        return [high if 0 < high <= 1 else 1.0] * len(scores)
    if method == "max":
        return [max(score, 0.0) / high if high > 0 else 0.0 for score in scores]
    return [(score - low) / (high - low) for score in scores]


def sigmoid(score: float) -> float:
    """The probability behind a log-odds, without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    return math.exp(score) / (1 + math.exp(score)) if score > -700 else 0.0


def as_unit(hits: Iterable[Hit], *, bounded: bool = False) -> list[Hit]:
    """Hits whose scores lie on a scale where more is better and nothing is negative, so that they can be weighed.

    Logits go through a sigmoid and cosines through (1 + c) / 2. If the scale is unknown and any score of unknown
    scale is negative, those scores are taken for logits. `bounded` also brings scores without an upper end (scale
    `positive`, or unknown and above 1) into [0, 1], as shares of the best of them, so that something can be added to
    them or a bar be set. Hits that were converted get a receipt.

    >>> hit = as_unit([Hit("a", -4.0, scale="logit")])[0]
    >>> round(hit.score, 4), hit.scale
    (0.018, 'unit')
    >>> as_unit([Hit("a", 7.5)])[0].score
    7.5
    >>> [hit.score for hit in as_unit([Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive")], bounded=True)]
    [1.0, 0.25]
    """
    hits = list(hits)
    unknown_is_logit = any(hit.scale is None and hit.score is not None and hit.score < 0 for hit in hits)
    top: dict[Scale | None, float] = {}
    open_ended: tuple[tuple[Scale | None, float], ...] = (("positive", 0.0), (None, 1.0)) if bounded else ()
    for scale, above in open_ended:
        scores = [hit.score for hit in hits if hit.scale == scale and hit.score is not None and hit.score > above]
        top[scale] = max(scores, default=1.0)
    return [_as_unit(hit, unknown_is_logit, top.get(hit.scale, 1.0)) for hit in hits]


def _as_unit(hit: Hit, unknown_is_logit: bool, top: float) -> Hit:
    if hit.score is None:
        return hit
    if hit.scale == "logit" or (hit.scale is None and unknown_is_logit):
        converted, formula = sigmoid(hit.score), "sigmoid"
    elif hit.scale == "cosine":
        converted, formula = min(max((1 + hit.score) / 2, 0.0), 1.0), "(1 + cosine) / 2"
    elif top != 1:
        converted, formula = hit.score / top, "score / best score"
    else:
        return hit
    return hit.with_receipt(Receipt("scale", hit.score, converted, {"formula": formula}), scale="unit")


def best(scores: npt.NDArray[np.floating], top_k: int) -> npt.NDArray[np.intp]:
    """Positions of the `top_k` largest scores, best first, equal scores by position.

    >>> best(np.array([0.2, 0.9, 0.9, 0.1]), 3).tolist()
    [1, 2, 0]
    """
    candidates = np.sort(best_and_ties(scores, top_k))
    return candidates[np.argsort(-scores[candidates], kind="stable")][:top_k]


def best_and_ties(scores: npt.NDArray[np.floating], top_k: int) -> npt.NDArray[np.intp]:
    """Positions of the `top_k` largest scores, in no order, and of all others that equal the last of them.

    >>> sorted(best_and_ties(np.array([0.2, 0.9, 0.9, 0.1]), 1).tolist())
    [1, 2]
    """
    if top_k >= len(scores):
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, len(scores) - top_k)[len(scores) - top_k])
