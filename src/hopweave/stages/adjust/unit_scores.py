"""Scores on [0, 1], so that they can be blended."""

from collections.abc import Sequence

from hopweave.hit import Hit
from hopweave.scores import as_unit


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
