"""What stages share that go by the dates of hits."""

from typing import Any, ClassVar

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.adjust.age import Decay, freshness_of


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
