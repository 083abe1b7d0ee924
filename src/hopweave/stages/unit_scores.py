"""Scores of unlike origin on one scale, so that they can be blended."""

from collections.abc import Sequence

from hopweave.hit import Hit
from hopweave.scores import as_unit


def unit_scores(hits: Sequence[Hit]) -> list[float | None]:
    """Each hit's score in [0, 1], and None where there is none.

    Logits and cosines are converted first. Then probabilities stay as they are; scores that are only known to be
    positive (BM25, reciprocal ranks) are divided by their maximum; scores of unknown meaning are divided by their
    maximum only if that lies above 1.

    >>> unit_scores([Hit("a", 0.5), Hit("b", 0.2), Hit("c")])
    [0.5, 0.2, None]
    >>> unit_scores([Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive")])
    [1.0, 0.25]
    """
    bounded = [hit.score for hit in as_unit(hits, bounded=True)]
    return [None if score is None else min(max(score, 0.0), 1.0) for score in bounded]
