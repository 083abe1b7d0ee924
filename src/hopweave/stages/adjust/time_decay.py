"""Time decay: scores decay with age towards a floor."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted
from hopweave.stages.adjust.dated_stage import DatedStage


class TimeDecay(DatedStage):
    """Score = score · (floor + (1 - floor) · 2^(-age / half-life)). Hits without a date keep their score.

    >>> from datetime import datetime
    >>> hit = Hit("a", 0.8, metadata={"timestamp": "2026-01-01"})
    >>> now = datetime(2026, 3, 2)  # 60 days later: 0.8 · (0.5 + 0.5 · 0.5)
    >>> round(TimeDecay().apply([hit], Query("ferries", now=now))[0].score, 4)
    0.6
    """

    kind: Literal["time_decay"] = "time_decay"
    half_life_days: float = Field(default=60, gt=0, description="Age at which the decaying share is halved.")
    floor: float = Field(default=0.5, ge=0, le=1, description="Share of the score that does not decay.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Lower the scores by age, best first."""

        def change(hit: Hit, score: float) -> Change:
            fresh, details = self._freshness(hit, query)
            if fresh is None:
                return score, details
            factor = self.floor + (1 - self.floor) * fresh
            return score * factor, {**details, "factor": factor}

        return adjusted(hits, self.kind, change)
