"""Relevant, and not the same thing again."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hopweave.component import Knowledge, Stage
from hopweave.errors import HopweaveError
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import checked, normalised
from hopweave.stages.hit_vectors import HitVectors, unit_vectors
from hopweave.stages.unit_scores import unit_scores

Floats = npt.NDArray[np.float32]


class Mmr(Stage):
    """Picks hits one by one, each time the one with the largest marginal relevance.

    mmr = relevance_weight * relevance - (1 - relevance_weight) * largest similarity to any hit chosen so far.

    Similarity is the cosine, 0 where it is negative or a vector is missing. The other strategies are those of
    pyversity, with `relevance_weight` in the same sense. Scores stay as they are; the receipt has the rank and the
    mmr value. Nothing is dropped unless `top_k` says so. Hits without a score come last, in their order.

    >>> east, north = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    >>> hits = [Hit("a", 0.9, vector=east), Hit("copy of a", 0.8, vector=east), Hit("b", 0.5, vector=north)]
    >>> picked = Mmr(relevance_weight=0.5).apply(hits, Query("ferries"))
    >>> [(hit.id, round(hit.receipts[-1].details["mmr"], 2)) for hit in picked]
    [('a', 0.45), ('b', 0.25), ('copy of a', -0.1)]
    """

    kind: Literal["mmr"] = "mmr"
    strategy: Literal["mmr", "msd", "dpp", "cover", "ssd"] = Field(
        "mmr", description="mmr, or one of pyversity's other strategies (needs the extra `hopweave[diversity]`)."
    )
    relevance_weight: float = Field(0.7, ge=0, le=1, description="1: relevance alone; 0: diversity alone.")
    relevance: Literal["unit", "max", "min_max"] = Field(
        "unit",
        description="How scores become relevance. unit: as they are if bounded, else divided by their maximum; "
        "max: always divided by their maximum; min_max: stretched to [0, 1].",
    )
    top_k: int | None = Field(None, ge=1, description="Keep only so many hits; all of them when not given.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - the scores speak for the question
        """Reorder hits so that each adds something to those before it."""
        hits = checked(hits)
        scored = [hit for hit in hits if hit.score is not None]
        unscored = [hit for hit in hits if hit.score is None]
        wanted = len(scored) if self.top_k is None else min(self.top_k, len(scored))
        vectors = unit_vectors(scored, knowledge, lexical=True)
        relevance = self._relevance(scored)
        gains: Sequence[float | None]
        if self.strategy == "mmr":
            order, gains = marginal_relevance(vectors.rows, relevance, wanted, self.relevance_weight)
        else:
            order, gains = _by_pyversity(self.strategy, vectors, relevance, wanted, self.relevance_weight)
        picked = [
            scored[place].rescored(
                scored[place].score,
                self.kind,
                strategy=self.strategy,
                rank=rank,
                mmr=gain,
                relevance=float(relevance[place]),
                vector_from=vectors.kept_by[place],
            )
            for rank, (place, gain) in enumerate(zip(order, gains, strict=True), start=1)
        ]
        rest = [
            hit.rescored(None, self.kind, strategy=self.strategy, rank=rank, mmr=None, relevance=None, vector_from=None)
            for rank, hit in enumerate(unscored, start=len(picked) + 1)
        ]
        return (picked + rest)[: self.top_k]

    def _relevance(self, hits: Sequence[Hit]) -> Floats:
        bounded = [score for score in unit_scores(hits) if score is not None]
        return np.array(bounded if self.relevance == "unit" else normalised(bounded, self.relevance), np.float32)


def marginal_relevance(
    rows: Floats, relevance: Floats, top_k: int, relevance_weight: float
) -> tuple[list[int], list[float]]:
    """Positions in the order in which they are picked, and the mmr value each had when it was picked.

    `rows` have length 1, or 0 where there is no vector. Ties go to the earlier position.

    >>> rows = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    >>> marginal_relevance(rows, np.array([1, 0.75, 0.5], np.float32), 3, 0.5)
    ([0, 2, 1], [0.5, 0.25, -0.125])
    """
    order: list[int] = []
    gains: list[float] = []
    value = relevance_weight * relevance
    redundancy = np.zeros_like(value)
    diversity_weight = np.float32(1 - relevance_weight)
    gain = value.copy()
    while len(order) < top_k:
        place = int(gain.argmax())
        order.append(place)
        gains.append(float(gain[place]))
        value[place] = -np.inf
        np.maximum(redundancy, np.minimum(rows @ rows[place], 1), out=redundancy)
        gain = value - diversity_weight * redundancy
    return order, gains


def _by_pyversity(
    strategy: str, vectors: HitVectors, relevance: Floats, top_k: int, relevance_weight: float
) -> tuple[list[int], list[float | None]]:
    if not top_k:
        return [], []
    try:
        from pyversity import diversify
    except ImportError as error:
        raise HopweaveError(
            f"strategy {strategy!r} needs pyversity, which is not installed; run: pip install 'hopweave[diversity]'"
        ) from error

    # a direction of its own for each hit without a vector: unlike all others, yet as long as they are
    without = np.flatnonzero(~vectors.known)
    rows = np.hstack([vectors.rows, np.zeros((len(relevance), len(without)), np.float32)])
    rows[without, vectors.rows.shape[1] + np.arange(len(without))] = 1
    result = diversify(rows, relevance, k=top_k, strategy=strategy, diversity=1 - relevance_weight)
    order = [int(place) for place in result.indices]
    gains = [float(gain) if np.isfinite(gain) else None for gain in result.selection_scores]
    chosen = set(order)
    # dpp may stop early when nothing new is left to span
    rest = [int(place) for place in np.argsort(-relevance, kind="stable") if int(place) not in chosen]
    return (order + rest)[:top_k], (gains + [None] * len(rest))[:top_k]
