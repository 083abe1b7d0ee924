"""Reranking by vectors: how near the question a hit is, whatever found it."""

import logging
from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import checked
from hopweave.stages.adjust.adjusted import blended_with_cosines
from hopweave.stages.similarity.hit_vectors import cosines_or_reason

logger = logging.getLogger(__name__)


class CosineRerank(Stage):
    """Score = (1 - blend) * original + blend * cosine(question, hit), within [0, 1].

    The vector of the question comes with the query, or the knowledge base embeds it; those of hits come with them, or
    from the knowledge base, and must be of the same model. A hit without a vector keeps its score, one without a score
    gets the cosine. If there is no vector at all, the order stays, and log and receipts have the reason.

    >>> import numpy as np
    >>> north, east = np.array([0, 1], np.float32), np.array([1, 0], np.float32)
    >>> hits = [Hit("a", 0.6, vector=east, scale="unit"), Hit("b", 0.5, vector=north, scale="unit")]
    >>> [(hit.id, round(hit.score, 2)) for hit in CosineRerank().apply(hits, Query("?", vector=north))]
    [('b', 0.65), ('a', 0.42)]
    """

    switch: ClassVar[str | None] = "rerank"

    kind: Literal["cosine_rerank"] = "cosine_rerank"
    blend: float = Field(default=0.3, ge=0, le=1, description="Share of the cosine; the rest is the original score.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """Rerank the hits by their cosine to the question."""
        hits = checked(hits)
        cosines, reason = cosines_or_reason(hits, query, knowledge) if hits else ([], None)
        if cosines is None:
            logger.warning("cosine_rerank leaves the order as it is: %s", reason)
            return [hit.rescored(hit.score, self.kind, outcome="original_order", reason=reason) for hit in hits]
        return blended_with_cosines(hits, cosines, self.blend, self.kind, blend=self.blend)
