"""Order, range and scale of scores, shared by all sources, fusers and stages."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import index
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from hopweave.errors import InvalidScore
from hopweave.hit import Hit, Receipt, Scale

Tail = Literal["normal", "cosine", "exponential"]
"""How fast the share of documents falls with their score; that of cosines falls more slowly than a normal one."""

_COSINE_TAIL = 0.75  # of the surprisal of a normal tail

GivenScale = Scale | Literal["distance"]
"""What the numbers of a list are: the scale of a hit, or distances, of which the smallest is the best."""

Normalisation = Literal["min_max", "max", "sigmoid", "none"]


class ScoreDistribution(NamedTuple):
    """How the scores of all documents lie for one question: how many there are, their mean and standard deviation.

    >>> ScoreDistribution.of(np.array([2.0, 1.0]), documents=4)  # two more have score 0
    ScoreDistribution(documents=4, mean=0.75, deviation=0.82915619758885)
    """

    documents: int
    mean: float
    deviation: float

    @classmethod
    def of(cls, scores: npt.NDArray[np.floating], documents: int) -> "ScoreDistribution":
        """The distribution of these scores; documents beyond them have score 0."""
        if not documents:
            return cls(0, 0.0, 0.0)
        mean = float(scores.sum(dtype=np.float64)) / documents
        square = float(np.square(scores, dtype=np.float64).sum()) / documents
        return cls(documents, mean, math.sqrt(max(square - mean**2, 0.0)))

    def above_chance(self, best: float, *, tail: Tail) -> float | None:
        """How far the best score is above what chance gives, as a ratio of surprisals: -ln P(score >= best) / ln N.

        The best of N documents that have nothing to do with the question has a surprisal of about ln N, so 1 is
        chance. -ln P is z²/2 if scores have a normal tail, three quarters of that for cosines, and z for an exponential
        tail, as that of BM25, where z = (best - mean) / deviation. None if all scores are equal or there are fewer than
        three documents.

        >>> round(ScoreDistribution(1000, 0.1, 0.1).above_chance(0.5, tail="cosine"), 3)
        0.869
        """
        if self.deviation <= 0 or self.documents < 3:
            return None
        z = max((best - self.mean) / self.deviation, 0.0)
        surprisal = {"normal": z**2 / 2, "cosine": _COSINE_TAIL * z**2 / 2, "exponential": z}
        return surprisal[tail] / math.log(self.documents)


def trust(
    scores: Iterable[float],
    above_chance: float | None = None,
    depth: int = 10,
    *,
    exponent: float = 2.0,
    contrast_exponent: float = 1.0,
) -> float:
    """How much a ranking can be trusted, next to others for the same question: above_chance^e · contrast^c.

    Without `above_chance`, which takes the scores of all documents, it is contrast².

    >>> trust([8.0, 4.0], 2.0, depth=2), trust([8.0, 4.0], depth=2)
    (2.0, 0.25)
    """
    found = contrast(scores, depth)
    return found**2 if above_chance is None else above_chance**exponent * found**contrast_exponent


def checked(hits: Iterable[Hit]) -> list[Hit]:
    """The hits without repeated ids (the first occurrence is kept); a score that is not finite is an error.

    >>> [hit.id for hit in checked([Hit("a", 1.0), Hit("b"), Hit("a", 0.5)])]
    ['a', 'b']
    >>> checked([Hit("a", float("nan"))])
    Traceback (most recent call last):
        ...
    hopweave.errors.InvalidScore: hit 'a' has score nan; scores must be finite numbers or None
    """
    first: dict[str, Hit] = {}
    for hit in hits:
        key, score = hit.id, hit.score
        if score is not None and not math.isfinite(score):
            raise InvalidScore(f"hit {key!r} has score {score}; scores must be finite numbers or None")
        if key not in first:
            first[key] = hit
    return list(first.values())


def ranked(hits: Iterable[Hit]) -> list[Hit]:
    """Best score first. Equal scores keep their order; hits without a score come last, in their order.

    >>> [hit.id for hit in ranked([Hit("a"), Hit("b", 0.1), Hit("c", 0.9)])]
    ['c', 'b', 'a']
    """
    return sorted(hits, key=lambda hit: math.inf if hit.score is None else -hit.score)


def by_order(hits: Sequence[Hit], scale: GivenScale | None = None) -> list[Hit]:
    """Hits of somebody else's list, best first, with scores that fall along it.

    Scores that fall are similarities and stay as they are. Scores that rise are distances: each becomes
    min + max - score, so that they keep their range and spacing. In any other order they say nothing, and hit i of n
    counts 1 - i / n. A receipt says which; hits without a score stay without. `scale` says what the numbers are, where
    the list is in no order. Hits with receipts come from hopweave and are left alone.

    >>> [hit.score for hit in by_order([Hit("a", 0.25), Hit("b", 0.5), Hit("c", 1.0)])]
    [1.0, 0.75, 0.25]
    >>> [hit.score for hit in by_order([Hit("a", 0.5), Hit("b", 0.9), Hit("c", 0.1), Hit("d")])]
    [1.0, 0.75, 0.5, None]
    >>> [hit.id for hit in by_order([Hit("a", 0.9), Hit("b", 0.1)], scale="distance")]
    ['b', 'a']
    """
    if any(hit.receipts for hit in hits):
        return list(hits)
    hits = checked(hits)
    scores = [hit.score for hit in hits if hit.score is not None]
    if scale is not None:
        hits = [hit._replace(scale=None if scale == "distance" else scale) for hit in hits]
        return ranked(_reflected(hits, scores) if scale == "distance" else hits)
    pairs = list(pairwise(scores))
    if all(one >= other for one, other in pairs):
        return hits
    if all(one <= other for one, other in pairs):
        return _reflected(hits, scores)
    places = enumerate(hits)
    return [_read(hit, 1 - place / len(hits), "no order: counts by rank") for place, hit in places]


def _reflected(hits: Sequence[Hit], scores: Sequence[float]) -> list[Hit]:
    ends = min(scores, default=0.0) + max(scores, default=0.0)
    return [_read(hit, ends - (hit.score or 0.0), "distances: min + max - score") for hit in hits]


def _read(hit: Hit, score: float, formula: str) -> Hit:
    """The hit with the score that its place or distance gives it, if it has one, and a receipt that says so."""
    if hit.score is None:
        return hit
    return hit._replace(score=score, scale=None, receipts=(Receipt("scale", hit.score, score, {"formula": formula}),))


def first(hits: Sequence[Hit], top_k: int | None) -> list[Hit]:
    """The first `top_k` hits, or all of them if it is None.

    >>> [hit.id for hit in first([Hit("a"), Hit("b")], 1)]
    ['a']
    >>> first([], 0)
    Traceback (most recent call last):
        ...
    ValueError: top_k: must be a whole number of at least 1, but got 0
    """
    return list(hits[: None if top_k is None else count_of("top_k", top_k)])


def count_of(parameter: str, value: Any) -> int:
    """A number that counts something, checked: at least 1, and neither a string, a fraction nor a Boolean.

    >>> count_of("top_k", "5")
    Traceback (most recent call last):
        ...
    ValueError: top_k: must be a whole number of at least 1, but got '5'
    """
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None or number < 1:
        raise ValueError(f"{parameter}: must be a whole number of at least 1, but got {value!r}")
    return number


def top_ids(
    scores: Mapping[str, float], best_rank: Mapping[str, int], limit: int | None = None
) -> list[tuple[str, float]]:
    """Ids by score; ties go to the better best rank, then to the smaller id.

    >>> top_ids({"b": 1.0, "a": 1.0, "c": 2.0}, {"a": 2, "b": 1, "c": 5})
    [('c', 2.0), ('b', 1.0), ('a', 1.0)]
    """
    order = sorted((-score, best_rank[key], key) for key, score in scores.items())
    return [(key, -negative) for negative, _, key in order[:limit]]


def contrast(scores: Iterable[float], depth: int = 10) -> float:
    """How well scores separate documents: (best - score at rank `depth`) / best, in [0, 1].

    Ranks beyond the end count 0. Without a positive score there is no contrast.

    >>> contrast([8.0, 4.0, 2.0], depth=3), contrast([0.9], depth=2), contrast([])
    (0.75, 1.0, 0.0)
    """
    ordered = sorted(scores, reverse=True)
    if not ordered or ordered[0] <= 0:
        return 0.0
    last = ordered[depth - 1] if len(ordered) >= depth else 0.0
    return (ordered[0] - max(last, 0.0)) / ordered[0]


def normalised(scores: Sequence[float], method: Normalisation = "min_max") -> list[float]:
    """Scores scaled to [0, 1] over their own list.

    min_max: (s - min) / (max - min). max: s / max, negatives to 0. sigmoid: 1 / (1 + e^-s). none: as they are.
    If all scores are equal, they are unchanged if they lie in (0, 1], else 1.

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
    if math.isinf(high - low):
        return [_share(score, low, high) for score in scores]
    return [(score - low) / (high - low) for score in scores]


def sigmoid(score: float) -> float:
    """The logistic function 1 / (1 + e^-score), without overflow.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if score >= 0:
        return 1 / (1 + math.exp(-score))
    return math.exp(score) / (1 + math.exp(score)) if score > -700 else 0.0


def as_unit(hits: Iterable[Hit], *, bounded: bool = False) -> list[Hit]:
    """Hits with scores on a scale without negative values, so that they can be multiplied and blended.

    Logits go through a sigmoid and cosines through (1 + c) / 2. A scale is never inferred from the scores: those of
    unknown scale are taken as they are, unless one of these is negative: if all lie in [-1, 1], as cosines do, and one
    is above 0, they become (s - min) / (1 - min), which changes those above 0 little; otherwise, as with dot products
    and logits of a foreign model, (s - min) / (max - min) over this list. Both keep their order.
    `bounded` also divides scores without an upper bound (scale `positive`, or unknown and above 1) by their maximum.
    Hits that were converted get a receipt.

    >>> hit = as_unit([Hit("a", -4.0, scale="logit")])[0]
    >>> round(hit.score, 4), hit.scale
    (0.018, 'unit')
    >>> [hit.score for hit in as_unit([Hit("a", 3.0), Hit("b", 0.0), Hit("c", -1.0)])]
    [1.0, 0.25, 0.0]
    >>> [hit.score for hit in as_unit([Hit("a", 0.75), Hit("b", -0.25)])]
    [0.8, 0.0]
    >>> [hit.score for hit in as_unit([Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive")], bounded=True)]
    [1.0, 0.25]
    """
    hits = list(hits)
    unknown = [hit.score for hit in hits if hit.scale is None and hit.score is not None]
    low, high = min(unknown, default=0.0), max(unknown, default=0.0)
    like_cosines = low >= -1 and 0 < high <= 1
    spread = (low, 1.0 if like_cosines else high) if low < 0 else None
    top: dict[Scale | None, float] = {}
    unbounded: tuple[tuple[Scale | None, float], ...] = (("positive", 0.0), (None, 1.0)) if bounded else ()
    for scale, above in unbounded:
        scores = [hit.score for hit in hits if hit.scale == scale and hit.score is not None and hit.score > above]
        top[scale] = max(scores, default=1.0)
    return [_as_unit(hit, top.get(hit.scale, 1.0), spread) for hit in hits]


def _as_unit(hit: Hit, top: float, spread: tuple[float, float] | None) -> Hit:
    if hit.score is None:
        return hit
    details: dict[str, Any] = {}
    if hit.scale == "logit":
        converted, formula = sigmoid(hit.score), "sigmoid"
    elif hit.scale == "cosine":
        converted, formula = min(max((1 + hit.score) / 2, 0.0), 1.0), "(1 + cosine) / 2"
    elif hit.scale is None and spread is not None:
        converted, formula = _share(hit.score, *spread), "(score - min) / (max - min)"
        details = {"min": spread[0], "max": spread[1], "note": "scores of unknown scale, some of them negative"}
    elif top != 1:
        converted, formula = hit.score / top, "score / best score"
    else:
        return hit
    return hit.with_receipt(Receipt("scale", hit.score, converted, {"formula": formula, **details}), scale="unit")


def _share(score: float, low: float, high: float) -> float:
    """Return the position of a score between the lowest (0) and the highest (1); 1 if both are equal."""
    if low == high:
        return 1.0
    if math.isinf(high - low):
        score, low, high = score / 2, low / 2, high / 2
    return (score - low) / (high - low)


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
