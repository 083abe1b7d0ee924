"""Weak hits are dropped."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Knowledge, Stage
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import as_unit, checked


class Minimum(Stage):
    """Drops hits whose score is under the minimum, in [0, 1]. The order stays.

    Logits become probabilities and scores without an upper end become shares of the best one, so that a minimum means
    the same whatever came before. A hit without a score is neither good nor bad and stays.

    >>> hits = [Hit("a", 2.0, scale="logit"), Hit("b", 0.0, scale="logit"), Hit("c", -2.0, scale="logit")]
    >>> [hit.id for hit in Minimum(minimum=0.5).apply(hits, Query("ferries"))]
    ['a', 'b']
    """

    kind: Literal["minimum"] = "minimum"
    minimum: float = Field(0.35, ge=0, le=1, description="The lowest score that stays.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep the hits that are good enough, in their order."""
        return [
            hit.rescored(None, self.kind, note="no score to compare") if hit.score is None else hit
            for hit in as_unit(checked(hits), bounded=True)
            if hit.score is None or hit.score >= self.minimum
        ]
