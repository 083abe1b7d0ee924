"""Length normalisation: lowers the scores of long texts."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted


class Length(Stage):
    """Score = score / (1 + slope · log2(max(characters / anchor, 1))). Texts up to the anchor keep their score.

    >>> Length().apply([Hit("a", 0.75, text="x" * 1000)], Query("ferries"))[0].score  # 0.75 / 1.5
    0.5
    """

    kind: Literal["length"] = "length"
    anchor_characters: int = Field(default=500, ge=1, description="Length up to which scores are unchanged.")
    slope: float = Field(default=0.5, ge=0, description="How much each doubling of the length adds to the divisor.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Lower the scores of long texts, best first."""

        def change(hit: Hit, score: float) -> Change:
            characters = len(hit.text)
            factor = 1 / (1 + self.slope * math.log2(max(characters / self.anchor_characters, 1)))
            return score * factor, {"characters": characters, "factor": factor}

        return adjusted(hits, self.kind, change)
