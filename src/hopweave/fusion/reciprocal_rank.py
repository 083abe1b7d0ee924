"""Reciprocal rank fusion: combines rankings by rank alone, so their scores need not be comparable."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import in_name_order, in_order
from hopweave.hit import Hit, Receipt
from hopweave.query import Query


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

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:
        """Merge rankings into one, best first; ties go to the better best rank, then to the smaller id."""
        return self.best(rankings, query)

    def best(
        self,
        rankings: Rankings,
        query: Query,  # noqa: ARG002 - the score depends on ranks only
        top_k: int | None = None,
    ) -> list[Hit]:
        """The first `top_k` hits of `fuse`, without receipts for the others."""
        lists = in_name_order(rankings)
        common = {"k": self.k} | {f"{source}_weight": weight for source, weight in self.weights.items()}
        scores: dict[str, float] = {}
        details: dict[str, dict[str, Any]] = {}
        for source, hits in lists.items():
            weight, rank_name = self.weights.get(source, 1.0), f"{source}_rank"
            for rank, hit in enumerate(hits, start=1):
                key, share = hit.id, weight / (self.k + rank)
                if key in scores:
                    scores[key] += share
                    details[key][rank_name] = rank
                else:
                    scores[key] = share
                    details[key] = {**common, rank_name: rank}

        def receipt(key: str) -> Receipt:
            return Receipt(self.kind, None, scores[key], details[key])

        return in_order(lists, scores, receipt, "positive", top_k)
