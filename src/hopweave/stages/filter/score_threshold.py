"""Score threshold: drops hits with a low score."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import as_unit, checked


class ScoreThreshold(Stage):
    """Drops hits whose score is below the minimum, in [0, 1]. The order is unchanged.

    Logits are converted to probabilities, and scores without an upper bound are divided by the best one, so that the
    minimum does not depend on the kind of source or fuser. Scores of unknown scale are compared as they are, unless
    one exceeds 1: then they are divided by the best one, too. If one of them is negative, they are spread between 0 for
    the lowest and 1 for the best one. Hits without a score are kept.

    >>> hits = [Hit("a", 2.0, scale="logit"), Hit("b", 0.0, scale="logit"), Hit("c", -2.0, scale="logit")]
    >>> [hit.id for hit in ScoreThreshold(min_score=0.5).apply(hits, Query("ferries"))]
    ['a', 'b']
    """

    kind: Literal["score_threshold"] = "score_threshold"
    min_score: float = Field(default=0.35, ge=0, le=1, description="The lowest score that is kept.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep the hits that reach the minimum, in their order."""
        return [
            hit.rescored(None, self.kind, note="no score to compare") if hit.score is None else hit
            for hit in as_unit(checked(hits), bounded=True)
            if hit.score is None or hit.score >= self.min_score
        ]
