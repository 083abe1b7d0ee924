"""Recency boost: adds a bonus that decays with age."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted
from hopweave.stages.adjust.dated_stage import DatedStage


class RecencyBoost(DatedStage):
    """Score = score + weight · 2^(-age / half-life). Hits without a date get no bonus.

    >>> from datetime import datetime
    >>> hit = Hit("a", 0.5, metadata={"timestamp": "2026-01-01"})
    >>> now = datetime(2026, 1, 15)  # 14 days later: 0.5 + 0.1 · 0.5
    >>> round(RecencyBoost().apply([hit], Query("ferries", now=now))[0].score, 4)
    0.55
    """

    kind: Literal["recency_boost"] = "recency_boost"
    weight: float = Field(default=0.10, ge=0, description="Bonus of a hit of age 0.")
    half_life_days: float = Field(default=14, gt=0, description="Age at which the bonus is halved.")
    clamp: bool = Field(default=False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Add the bonus to the scores, best first."""

        def change(hit: Hit, score: float) -> Change:
            fresh, details = self._freshness(hit, query)
            if fresh is None:
                return score, details
            return score + self.weight * fresh, {**details, "bonus": self.weight * fresh}

        return adjusted(hits, self.kind, change, bounded=True, clamp=self.clamp)
