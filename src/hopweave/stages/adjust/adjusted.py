"""What stages that change scores share: a change with its receipt, scores in [0, 1], and blending of scores."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hopweave.hit import Hit
from hopweave.scores import as_unit, checked, ranked

Change = tuple[float, dict[str, Any]]
"""A new score and the numbers that explain it."""


def adjusted(
    hits: Iterable[Hit],
    stage: str,
    change: Callable[[Hit, float], Change | None],
    *,
    bounded: bool = False,
    clamp: bool = False,
) -> list[Hit]:
    """Hits with the scores that `change` gives, best first, each with a receipt.

    Scores are first converted to a scale without negative values (`scores.as_unit`), with `bounded` to [0, 1]. `change`
    returns None for a hit that the stage does not apply to. A hit without a score stays without one. If no score
    changed, the order is kept.

    >>> [hit.score for hit in adjusted([Hit("a", 0.5), Hit("b", 0.75)], "double", lambda _, score: (2 * score, {}))]
    [1.5, 1.0]
    """
    before = as_unit(checked(hits), bounded=bounded)
    after = [_adjusted(hit, stage, change, clamp) for hit in before]
    same = all(new.score == old.score for new, old in zip(after, before, strict=True))
    return after if same else ranked(after)


def _adjusted(hit: Hit, stage: str, change: Callable[[Hit, float], Change | None], clamp: bool) -> Hit:
    if hit.score is None:
        return hit.rescored(None, stage, note="no score to adjust")
    changed = change(hit, float(hit.score))
    if changed is None:
        return hit
    score, details = changed
    if clamp and not 0 <= score <= 1:
        details = {**details, "clamped_from": score}
        score = min(max(score, 0.0), 1.0)
    return hit.rescored(score, stage, **details)


def unit_scores(hits: Sequence[Hit]) -> list[float | None]:
    """The score of each hit in [0, 1]; None for a hit without a score.

    Logits and cosines are converted first. Probabilities are unchanged; scores of scale `positive` (BM25, reciprocal
    ranks) are divided by their maximum; scores of unknown scale are divided by their maximum only if it exceeds 1, and
    become (s - min) / (max - min) if one of them is negative.

    >>> unit_scores([Hit("a", 0.5), Hit("b", 0.2), Hit("c")])
    [0.5, 0.2, None]
    >>> unit_scores([Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive")])
    [1.0, 0.25]
    """
    bounded = [hit.score for hit in as_unit(hits, bounded=True)]
    return [None if score is None else min(max(score, 0.0), 1.0) for score in bounded]


def blended_with_cosines(
    hits: Sequence[Hit], cosines: Sequence[float | None], share: float, stage: str, **details: Any
) -> list[Hit]:
    """Hits with `share` parts of their cosine to the question in their score, best first; without one as they are."""
    return ranked(
        hit.rescored(
            original if cosine is None else min(max(blended(cosine, original, share), 0.0), 1.0),
            stage,
            scale="unit",
            cosine=cosine,
            original=original,
            **details,
        )
        for hit, original, cosine in zip(hits, unit_scores(hits), cosines, strict=True)
    )


def blended(new: float, original: float | None, share: float) -> float:
    """`share` parts of the new score; the rest is the original one, if there is one.

    >>> blended(1.0, 0.5, 0.25), blended(1.0, None, 0.25)
    (0.625, 1.0)
    """
    return new if original is None else share * new + (1 - share) * original
