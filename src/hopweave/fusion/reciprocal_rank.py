"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from typing import Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.scores import checked, top_ids


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
        scores: dict[str, float] = {}
        parts: dict[str, dict[str, dict[str, float]]] = {}
        found: dict[str, list[tuple[int, Hit]]] = {}
        for name in sorted(rankings):
            weight = self.weights.get(name, 1.0)
            for rank, hit in enumerate(checked(rankings[name]), start=1):
                part = weight / (self.k + rank)
                scores[hit.id] = scores.get(hit.id, 0.0) + part
                parts.setdefault(hit.id, {})[name] = {"rank": rank, "weight": weight, "part": part}
                found.setdefault(hit.id, []).append((rank, hit))
        best = {key: min(pairs, key=lambda pair: pair[0]) for key, pairs in found.items()}
        return [
            _merged(best[key][1], [hit for _, hit in found[key]], score, parts[key])
            for key, score in top_ids(scores, {key: rank for key, (rank, _) in best.items()})
        ]


def _merged(best: Hit, all_found: list[Hit], score: float, parts: dict[str, dict[str, float]]) -> Hit:
    receipts = tuple(receipt for hit in all_found for receipt in hit.receipts)
    fused = Receipt("reciprocal_rank", None, score, {"sources": parts})
    return Hit(best.id, score, best.text, best.metadata, best.vector, "positive", best.origin, (*receipts, fused))
