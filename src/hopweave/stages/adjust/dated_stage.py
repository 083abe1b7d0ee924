"""What stages share that go by the dates of hits: the age of a hit and the decay factor for it."""

import math
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


class DatedStage(Stage):
    """A stage that goes by how fresh a hit is: 2^(-age / half-life)."""

    switch: ClassVar[str | None] = "freshness"

    half_life_days: float
    decay: Decay = Field(
        default="half_life", description="half_life: 2^(-age/half-life); exponential: e^(-age/half-life)."
    )
    timestamp_field: str = Field(default="timestamp", description="Metadata field with the date.")

    def _freshness(self, hit: Hit, query: Query) -> tuple[float | None, dict[str, Any]]:
        """The decay factor of a hit and the details for its receipt; None instead of a factor without a date.

        A date in the future counts as now.
        """
        value = hit.metadata.get(self.timestamp_field)
        written = read_timestamp(value)
        if written is None:
            why = "undated" if value is None else f"undated: cannot read {self.timestamp_field} {str(value)[:60]!r}"
            return None, {"note": why}
        age_days = max((query.now - written).total_seconds() / SECONDS_PER_DAY, 0.0)
        factor = decay_factor(age_days, self.half_life_days, self.decay)
        return factor, {"age_days": age_days, "decay": factor}
