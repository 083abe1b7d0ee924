"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import completed, together
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.scores import checked


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
    weights: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="Weight by source name; 1 where not given."
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

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - ranks alone decide
        """Merge rankings into one, best first."""
        # a thousand hits per source are common, so each is touched as little as possible: entries sort as they are, and
        # a place in a hit (id 0, text 2, metadata 3, vector 4, origin 6, receipts 7) is found faster than a name
        k, weights = self.k, {f"{source}_weight": weight for source, weight in self.weights.items()}
        found: dict[str, list[Any]] = {}  # minus the score, best rank, id, hit, details, receipts
        for source in sorted(rankings):
            weight, rank_name = self.weights.get(source, 1.0), f"{source}_rank"
            for rank, hit in enumerate(checked(rankings[source]), start=1):
                key = hit[0]
                known = found.get(key)
                if known is None:
                    found[key] = [-weight / (k + rank), rank, key, hit, {"k": k, rank_name: rank}, hit[7]]
                    continue
                known[0] -= weight / (k + rank)
                known[4][rank_name] = rank
                if hit[7]:
                    known[5] = together(known[5], hit[7])
                best = known[3]
                if rank < known[1]:
                    known[1], known[3], best, hit = rank, hit, hit, best  # noqa: PLW2901 - the two change places
                if not best[2] or hit[3] or hit[4] is not None or hit[6] is not None:  # else it has nothing to add
                    known[3] = completed(best, hit)
        new, hits = tuple.__new__, []  # the constructor of a named tuple is Python code, this one is not
        for loss, _, key, hit, details, told in sorted(found.values()):
            if weights:
                details.update(weights)
            score = -loss
            receipt = new(Receipt, ("reciprocal_rank", None, score, details))
            receipts = (*told, receipt) if told else (receipt,)
            hits.append(new(Hit, (key, score, hit[2], hit[3], hit[4], "positive", hit[6], receipts)))
        return hits
