"""What stages share that go by the dates of hits: the age of a hit and the decay factor for it."""

import math
from datetime import datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.metadata.timestamps import read_timestamp
from hopweave.query import Query

Decay = Literal["half_life", "exponential"]

SECONDS_PER_DAY = 86_400


def decay_factor(age_days: float, half_life_days: float, decay: Decay = "half_life") -> float:
    """The decay factor after `age_days`: 2^(-age / half-life), exactly 0.5 after one half-life.

    `exponential` is e^(-age / half-life), which is 0.37 after one half-life.

    >>> decay_factor(90, 90), decay_factor(180, 90), round(decay_factor(90, 90, "exponential"), 4)
    (0.5, 0.25, 0.3679)
    """
    spent = age_days / half_life_days
    return 2.0**-spent if decay == "half_life" else math.exp(-spent)


def freshness_of(
    hit: Hit, now: datetime, *, timestamp_field: str, half_life_days: float, decay: Decay
) -> tuple[float | None, dict[str, Any]]:
    """The decay factor of a hit and the details for its receipt; None instead of a factor if it has no readable date.

    A date in the future counts as now.

    >>> from datetime import UTC
    >>> hit = Hit("a", metadata={"date": "2026-01-01"})
    >>> week_later = datetime(2026, 1, 8, tzinfo=UTC)
    >>> freshness_of(hit, week_later, timestamp_field="date", half_life_days=7, decay="half_life")
    (0.5, {'age_days': 7.0, 'decay': 0.5})
    """
    value = hit.metadata.get(timestamp_field)
    written = read_timestamp(value)
    if written is None:
        why = "undated" if value is None else f"undated: cannot read {timestamp_field} {str(value)[:60]!r}"
        return None, {"note": why}
    age_days = max((now - written).total_seconds() / SECONDS_PER_DAY, 0.0)
    factor = decay_factor(age_days, half_life_days, decay)
    return factor, {"age_days": age_days, "decay": factor}


class DatedStage(Stage):
    """A stage that goes by how fresh a hit is: 2^(-age / half-life)."""

    switch: ClassVar[str | None] = "freshness"

    half_life_days: float
    decay: Decay = Field(
        default="half_life", description="half_life: 2^(-age/half-life); exponential: e^(-age/half-life)."
    )
    timestamp_field: str = Field(default="timestamp", description="Metadata field with the date.")

    def _freshness(self, hit: Hit, query: Query) -> tuple[float | None, dict[str, Any]]:
        """The decay factor of a hit and the details for its receipt; None instead of a factor without a date."""
        return freshness_of(
            hit,
            query.now,
            timestamp_field=self.timestamp_field,
            half_life_days=self.half_life_days,
            decay=self.decay,
        )
