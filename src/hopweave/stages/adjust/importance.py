"""Importance: scales scores by an importance in the metadata."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted


class Importance(Stage):
    """Score = score · (floor + (1 - floor) · importance), with importance in [0, 1] from the metadata.

    A hit without a readable importance counts as fully important.

    >>> Importance().apply([Hit("a", 0.5, metadata={"importance": 0.5})], Query("ferries"))[0].score  # 0.5 · 0.85
    0.425
    """

    kind: Literal["importance"] = "importance"
    floor: float = Field(default=0.7, ge=0, le=1, description="Factor for a hit of importance 0.")
    importance_field: str = Field(default="importance", description="Metadata field with the importance, from 0 to 1.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Scale the scores by importance, best first."""

        def change(hit: Hit, score: float) -> Change:
            importance, note = _read(hit.metadata.get(self.importance_field))
            factor = self.floor + (1 - self.floor) * importance
            return score * factor, {"importance": importance, "factor": factor, **note}

        return adjusted(hits, self.kind, change)


def _read(value: Any) -> tuple[float, dict[str, str]]:
    if value is None:
        return 1.0, {"note": "no importance given"}
    if not isinstance(value, Real) or isinstance(value, bool) or math.isnan(value):
        return 1.0, {"note": f"cannot read importance {str(value)[:60]!r}"}
    importance = min(max(float(value), 0.0), 1.0)
    return importance, {} if importance == value else {"note": f"importance {value} is outside [0, 1]"}
