"""Common steps of all stages that change scores."""

from collections.abc import Callable, Iterable
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
