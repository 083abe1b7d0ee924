"""Reciprocal rank fusion: combines rankings by rank alone, so their scores need not be comparable."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import merged
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.scores import checked, top_ids


class ReciprocalRank(Fuser):
    """Score = sum over sources of weight / (k + rank), with ranks from 1.

    A hit found by only one source is kept. A source that was skipped or failed contributes nothing. A hit that occurs
    twice in one ranking counts once, at its better rank. Text and metadata come from the source that ranked the hit
    best.

    G. V. Cormack, C. L. A. Clarke, S. Büttcher (2009): Reciprocal Rank Fusion outperforms Condorcet and individual
    Rank Learning Methods. SIGIR.

    >>> fused = ReciprocalRank().fuse({"text": [Hit("a"), Hit("b")], "vector": [Hit("b")]}, Query("ferries"))
    >>> [(hit.id, round(hit.score, 5)) for hit in fused]
    [('b', 0.03252), ('a', 0.01639)]
    """

    kind: Literal["reciprocal_rank"] = "reciprocal_rank"
    k: float = Field(
        default=60, gt=0, description="Rank constant: a larger k reduces the difference between top ranks."
    )
    weights: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="Weight by source name; 1 by default."
    )

    def check_sources(self, names: Iterable[str]) -> None:
        """Raise if there is a weight for a source that does not exist.

        >>> ReciprocalRank(weights={"txet": 2}).check_sources(["text", "vector"])
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: reciprocal_rank: there is a weight for 'txet', but the sources are text, vector
        """
        names = sorted(names)
        for name in sorted(self.weights.keys() - set(names)):
            raise RecipeError(
                f"reciprocal_rank: there is a weight for {name!r}, but the sources are {', '.join(names)}"
            )

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - the score depends on ranks only
        """Merge rankings into one, best first; ties go to the better best rank, then to the smaller id."""
        found: dict[str, Hit] = {}
        scores: dict[str, float] = {}
        best_ranks: dict[str, int] = {}
        details: dict[str, dict[str, Any]] = {}
        common = {"k": self.k} | {f"{source}_weight": weight for source, weight in self.weights.items()}
        for source in sorted(rankings):
            weight, rank_name = self.weights.get(source, 1.0), f"{source}_rank"
            for rank, hit in enumerate(checked(rankings[source]), start=1):
                key, share = hit.id, weight / (self.k + rank)
                if key not in found:
                    found[key], scores[key], best_ranks[key] = hit, share, rank
                    details[key] = {**common, rank_name: rank}
                    continue
                found[key] = merged(found[key], hit, prefer_second=rank < best_ranks[key])
                scores[key] += share
                best_ranks[key] = min(best_ranks[key], rank)
                details[key][rank_name] = rank
        return [
            found[key].with_receipt(Receipt(self.kind, None, score, details[key]), scale="positive")
            for key, score in top_ids(scores, best_ranks)
        ]
