"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from typing import Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.fusion.merge import gathered, in_order
from hopweave.hit import Hit, Receipt
from hopweave.query import Query


class ReciprocalRank(Fuser):
    """Score = sum over sources of weight / (k + rank), with ranks from 1.

    A hit found by one source only stays. A source that was skipped or failed is simply absent. A hit that stands
    twice in one list counts once. Text and metadata come from the source that ranked the hit best.

    >>> fused = ReciprocalRank().fuse({"text": [Hit("a"), Hit("b")], "vector": [Hit("b")]}, Query("ferries"))
    >>> [(hit.id, round(hit.score, 5)) for hit in fused]
    [('b', 0.03252), ('a', 0.01639)]
    """

    kind: Literal["reciprocal_rank"] = "reciprocal_rank"
    k: float = Field(60, gt=0, description="Flattens the curve: a larger k makes the top ranks stand out less.")
    weights: dict[str, float] = Field(default_factory=dict, description="Weight by source name; 1 where not given.")

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - ranks alone decide
        """Merge rankings into one, best first."""
        found = gathered(rankings)
        receipts = {}
        for key, places in found.items():
            ranks = {source: rank for rank, source, _ in places}
            parts = {source: self.weights.get(source, 1.0) / (self.k + rank) for source, rank in ranks.items()}
            receipts[key] = Receipt(self.kind, None, sum(parts.values()), {"ranks": ranks, "parts": parts})
        return in_order(found, receipts, "positive")
