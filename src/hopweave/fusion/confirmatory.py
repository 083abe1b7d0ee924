"""Confirmatory fusion: one source gives the scores, the others confirm."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.errors import RecipeError
from hopweave.fusion.merge import in_name_order, in_order, sources_by_id
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.scores import Normalisation, checked, normalised, sigmoid


class Confirmatory(Fuser):
    """The score of the base source, with a bonus for hits that others confirm and a minimum for hits of others alone.

    base and confirmed: base · (1 + bonus). base only: base. confirmed only: max(confirming score, min_score), so that
    an exact keyword match is not buried. All are clamped to [0, 1]. A hit without a score from the base counts as found
    by the others only.

    >>> rankings = {"vector": [Hit("a", 0.8), Hit("b", 0.6)], "text": [Hit("b", 7.0), Hit("c", 2.0)]}
    >>> [(hit.id, round(hit.score, 4)) for hit in Confirmatory().fuse(rankings, Query("ferries"))]
    [('a', 0.8), ('b', 0.69), ('c', 0.5)]
    """

    kind: Literal["confirmatory"] = "confirmatory"
    base: str = Field(default="vector", min_length=1, description="Name of the source that gives the scores.")
    confirming: tuple[str, ...] | None = Field(
        default=None, description="Names of the sources that confirm; None means all but the base."
    )
    bonus: float = Field(
        default=0.15, ge=0, allow_inf_nan=False, description="Bonus for confirmation, as a share of the score."
    )
    min_score: float = Field(
        default=0.5, ge=0, le=1, description="Minimum score of a hit that only confirming sources found."
    )
    base_normalisation: Normalisation = Field(
        default="none", description="How base scores are scaled to [0, 1]; logits always become probabilities."
    )
    confirming_normalisation: Normalisation = Field(
        default="min_max", description="How the scores of each confirming source are scaled to [0, 1]."
    )

    def check_sources(self, names: Iterable[str]) -> None:
        """Raise if a source is neither base nor confirming.

        >>> Confirmatory(confirming=("text",)).check_sources(["vector", "graph"])
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: confirmatory: source 'graph' is neither the base vector nor confirming (text)
        """
        for name in sorted(names):
            if self.confirming is not None and name not in (self.base, *self.confirming):
                raise RecipeError(
                    f"confirmatory: source {name!r} is neither the base {self.base} nor confirming "
                    f"({', '.join(self.confirming)})"
                )

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - the rankings are enough
        """Merge rankings into one, best first."""
        self.check_sources(rankings)
        strengths = {
            name: _strengths(hits, self.base_normalisation if name == self.base else self.confirming_normalisation)
            for name, hits in rankings.items()
        }
        lists = in_name_order(rankings)
        receipts = {key: self._receipt(key, sources, strengths) for key, sources in sources_by_id(lists).items()}
        scores = {key: receipt.after for key, receipt in receipts.items()}
        return in_order(lists, scores, receipts.__getitem__, "unit")

    def _receipt(self, key: str, sources: Sequence[str], strengths: dict[str, dict[str, float]]) -> Receipt:
        base = strengths.get(self.base, {}).get(key)
        confirming = [source for source in sources if source != self.base]
        details: dict[str, Any] = {"base": base, "confirmed_by": confirming}
        if base is not None:
            score = base * (1 + self.bonus) if confirming else base
            details |= {"bonus": self.bonus} if confirming else {}
        elif confirming:
            strongest = max((strengths[name][key] for name in confirming if key in strengths[name]), default=None)
            score = self.min_score if strongest is None else max(strongest, self.min_score)
            details |= {"confirming": strongest, "min_score": self.min_score}
        else:
            return Receipt(self.kind, None, None, {**details, "note": "the base gave no score"})
        clamped = min(max(score, 0.0), 1.0)
        return Receipt(self.kind, None, clamped, details if clamped == score else {**details, "clamped_from": score})


def _strengths(hits: Sequence[Hit], method: Normalisation) -> dict[str, float]:
    """Scores by id, scaled to [0, 1] by the given method; hits without a score are left out."""
    raw: dict[str, float] = {}
    for hit in checked(hits):
        if hit.score is not None:
            as_probability = method == "none" and hit.scale == "logit"
            raw[hit.id] = sigmoid(hit.score) if as_probability else float(hit.score)
    return dict(zip(raw, normalised(list(raw.values()), method), strict=True))
