"""Freshness: blends recency into the scores of selected corpus types."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

from pydantic import Field

from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted
from hopweave.stages.adjust.dated_stage import DatedStage


class Freshness(DatedStage):
    """Score = (1 - weight) · score + weight · 2^(-age / half-life), for hits of the given corpus types.

    Scores are brought to [0, 1] first, those without an upper bound (of BM25, or of unknown scale and above 1) as
    shares of the best one. Other hits and hits without a date keep the score that they have then.

    >>> from datetime import datetime
    >>> hit = Hit("a", 0.8, metadata={"corpus_type": "CONVO_SLACK", "timestamp": "2026-01-01"})
    >>> now = datetime(2026, 4, 1)  # 90 days later: 0.9 · 0.8 + 0.1 · 0.5
    >>> round(Freshness().apply([hit], Query("ferries", now=now))[0].score, 4)
    0.77
    """

    kind: Literal["freshness"] = "freshness"
    weight: float = Field(default=0.1, ge=0, le=1, description="Share of the score that freshness makes up.")
    half_life_days: float = Field(default=90, gt=0, description="Age at which freshness is 0.5.")
    corpus_types: tuple[str, ...] | None = Field(
        default=("CONVO_*",),
        description="Corpus types it applies to, with * and ? as wildcards; None applies to all hits.",
    )
    corpus_type_field: str = Field(default="corpus_type", description="Metadata field with the corpus type.")
    clamp: bool = Field(default=False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Blend freshness into the scores, best first."""

        def change(hit: Hit, score: float) -> Change | None:
            if not self._applies_to(hit):
                return None
            fresh, details = self._freshness(hit, query)
            if fresh is None:
                return score, details
            return (1 - self.weight) * score + self.weight * fresh, {**details, "weight": self.weight}

        return adjusted(hits, self.kind, change, bounded=True, clamp=self.clamp)

    def _applies_to(self, hit: Hit) -> bool:
        if self.corpus_types is None:
            return True
        corpus_type = hit.metadata.get(self.corpus_type_field)
        return isinstance(corpus_type, str) and any(fnmatchcase(corpus_type, pattern) for pattern in self.corpus_types)
