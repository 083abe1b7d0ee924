"""Old hits fade, down to a floor."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Knowledge, Stage
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.adjust import Change, adjusted
from hopweave.stages.age import Decay, freshness_of


class TimeDecay(Stage):
    """Score = score · (floor + (1 - floor) · 2^(-age / half-life)). Undated hits keep their score.

    >>> from datetime import datetime
    >>> hit = Hit("a", 0.8, metadata={"timestamp": "2026-01-01"})
    >>> now = datetime(2026, 3, 2)  # 60 days later: 0.8 · (0.5 + 0.5 · 0.5)
    >>> round(TimeDecay().apply([hit], Query("ferries", asked_at=now))[0].score, 4)
    0.6
    """

    kind: Literal["time_decay"] = "time_decay"
    half_life_days: float = Field(60, gt=0, description="Age at which half of what can fade has faded.")
    floor: float = Field(0.5, ge=0, le=1, description="Share of the score that never fades.")
    decay: Decay = Field("half_life", description="half_life: 2^(-age/half-life); exponential: e^(-age/half-life).")
    timestamp_field: str = Field("timestamp", description="Metadata field with the date.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Fade the scores by age, best first."""

        def change(hit: Hit, score: float) -> Change:
            fresh, details = freshness_of(
                hit,
                query.asked_at,
                timestamp_field=self.timestamp_field,
                half_life_days=self.half_life_days,
                decay=self.decay,
            )
            if fresh is None:
                return score, details
            factor = self.floor + (1 - self.floor) * fresh
            return score * factor, {**details, "factor": factor}

        return adjusted(hits, self.kind, change)
