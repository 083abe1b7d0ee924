"""A weighted sum of sources, with weights that follow how much each source can be trusted for this question."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import in_name_order
from hopweave.fusion.weighted import strengths_by_signal, weighted_sum
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import contrast, trust


class TrustWeighted(Fuser):
    """Score = sum over sources of weight · strength, where the weights follow the evidence of the rankings themselves.

    A source that cannot distinguish documents gives them all nearly the same score: an English embedder on Chinese
    text, or BM25 on words that every document has. So the trust in a ranking is above_chance^`exponent` · √contrast,
    where contrast = (first score - score at `depth`) / first score, and above_chance, which `bm25` and `vector`
    state in their receipts, compares the best hit with the best of as many documents that have nothing to do with
    the question (`hopweave.scores.ScoreDistribution`). If a source does not state it, contrast² is used for all.

    A source that states its own trust (the detail `trust` of its receipts, in [0, 1], as `pagerank` does from how
    well the names in the question were linked) gets `max_stated_share` · trust of the whole; the others share the rest
    in proportion to their trust. `weights` multiply the trust. If no ranking has any contrast, all sources weigh the
    same. Receipts say how much each source was trusted, and the evidence; it is `hits: 0` for a source that has found
    nothing, such as `pagerank` in a file without a graph.

    >>> sure = [Hit("a", 9.0), Hit("b", 3.0), Hit("c", 1.0)]
    >>> unsure = [Hit("c", 0.81), Hit("b", 0.80), Hit("a", 0.79)]
    >>> fused = TrustWeighted(depth=3).fuse({"text": sure, "vector": unsure}, Query("渡船"))
    >>> [hit.id for hit in fused], fused[0].receipts[-1].details["weights"]
    (['a', 'b', 'c'], {'text': 0.999, 'vector': 0.001})
    """

    kind: Literal["trust_weighted"] = "trust_weighted"
    weights: dict[str, Annotated[float, Field(ge=0)]] = Field(
        default_factory=dict, description="What the trust in a source is multiplied by, by source name; 1 if not given."
    )
    depth: int = Field(default=10, ge=2, description="The rank whose score is compared with the first.")
    exponent: float = Field(default=4.0, ge=0, description="How strongly it counts how far above chance a source is.")
    max_stated_share: float = Field(default=1.0, ge=0, le=1, description="Weight of a source whose stated trust is 1.")

    def check_sources(self, names: Iterable[str]) -> None:
        """Raise if there is a weight for a source that does not exist.

        >>> TrustWeighted(weights={"txet": 2}).check_sources(["text", "vector"])
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: trust_weighted: there is a weight for 'txet', but the sources are text, vector
        """
        names = sorted(names)
        for name in sorted(self.weights.keys() - set(names)):
            raise RecipeError(f"{self.kind}: there is a weight for {name!r}, but the sources are {', '.join(names)}")

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:
        """Merge rankings into one, best first."""
        return self.best(rankings, query)

    def best(
        self,
        rankings: Rankings,
        query: Query,  # noqa: ARG002 - the rankings say it all
        top_k: int | None = None,
    ) -> list[Hit]:
        """The first `top_k` hits of `fuse`, without receipts for the others."""
        lists = in_name_order(rankings)
        shares = self._shares(lists)
        details = {
            "weights": {name: round(share, 3) for name, share in shares.items()},
            "evidence": {name: self._evidence(lists[name]) for name in shares},
        }
        strengths = strengths_by_signal(lists, {name: name for name in lists}, "min_max")
        return weighted_sum(self.kind, lists, strengths, shares, "min_max", details, top_k)

    def shares(self, rankings: Rankings) -> dict[str, float]:
        """Return the trust in each source as shares that sum to 1.

        >>> TrustWeighted(depth=2).shares({"text": [Hit("a", 2.0), Hit("b", 1.0)], "vector": [Hit("a", 0.5)]})
        {'text': 0.2, 'vector': 0.8}
        """
        return self._shares(in_name_order(rankings))

    def _shares(self, lists: Mapping[str, list[Hit]]) -> dict[str, float]:
        stated = {name: said for name, hits in lists.items() if (said := _stated(hits, "trust")) is not None}
        shares = {name: self.max_stated_share * said * self._weight(name) for name, said in stated.items()}
        left = max(1 - sum(shares.values()), 0.0)
        others = {name: hits for name, hits in lists.items() if name not in stated and hits}
        above = {name: _stated(hits, "above_chance") for name, hits in others.items()}
        comparable = None not in above.values()
        trusts = {
            name: self._weight(name)
            * trust(
                _scores(hits),
                above[name] if comparable else None,
                self.depth,
                exponent=self.exponent,
                contrast_exponent=0.5,
            )
            for name, hits in others.items()
        }
        if not any(trusts.values()):
            trusts = {name: self._weight(name) for name in trusts}
        total = sum(trusts.values())
        shares |= {name: left * trust / total if total else 0.0 for name, trust in trusts.items()}
        whole = sum(shares.values())
        return {name: shares.get(name, 0.0) / whole if whole else 1 / len(lists) for name in lists}

    def _weight(self, name: str) -> float:
        return self.weights.get(name, 1.0)

    def _evidence(self, hits: list[Hit]) -> dict[str, float]:
        """Return the values that the trust in a ranking is computed from; a source that found nothing has none."""
        if not hits:
            return {"hits": 0}
        said = {name: value for name in ("trust", "above_chance") if (value := _stated(hits, name)) is not None}
        return said if "trust" in said else said | {"contrast": round(contrast(_scores(hits), self.depth), 3)}


def _scores(hits: list[Hit]) -> list[float]:
    return [hit.score for hit in hits if hit.score is not None]


def _stated(hits: list[Hit], detail: str) -> float | None:
    """A number that a source states in the receipts of its hits; None if it states none."""
    receipts = hits[0].receipts if hits else ()
    stated = receipts[-1].details.get(detail) if receipts else None
    return float(stated) if isinstance(stated, int | float) else None
