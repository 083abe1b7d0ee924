"""Maximal marginal relevance and other diversification strategies."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hopweave.component import Stage
from hopweave.extras import of_extra
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import checked, normalised
from hopweave.stages.adjust.adjusted import unit_scores
from hopweave.stages.similarity.hit_vectors import HitVectors, unit_vectors

Floats = npt.NDArray[np.float32]


class MMR(Stage):
    """Selects hits one by one, each time the one with the largest marginal relevance.

    mmr = relevance_weight * relevance - (1 - relevance_weight) * largest similarity to any hit chosen so far.

    Similarity is the cosine, 0 where it is negative or a vector is missing. The other strategies are those of
    pyversity, with `relevance_weight` in the same sense; they need the extra `hopweave[pyversity]`. Scores are
    unchanged; the receipt has the rank and the mmr value. Hits are dropped only if `top_k` is given. Hits beyond the
    first `candidates` follow in their order, and those without a score come last.

    J. Carbonell, J. Goldstein (1998): The Use of MMR, Diversity-Based Reranking for Reordering Documents and Producing
    Summaries. SIGIR.

    >>> east, north = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    >>> hits = [Hit("a", 0.9, vector=east), Hit("copy of a", 0.8, vector=east), Hit("b", 0.5, vector=north)]
    >>> picked = MMR(relevance_weight=0.5).apply(hits, Query("ferries"))
    >>> [(hit.id, round(hit.receipts[-1].details["mmr"], 2)) for hit in picked]
    [('a', 0.45), ('b', 0.25), ('copy of a', -0.1)]
    """

    kind: Literal["mmr"] = "mmr"
    strategy: Literal["mmr", "msd", "dpp", "cover", "ssd"] = Field(
        default="mmr",
        description="mmr, or one of the other strategies of pyversity.",
    )
    relevance_weight: float = Field(default=0.7, ge=0, le=1, description="1: relevance alone; 0: diversity alone.")
    relevance: Literal["unit", "max", "min_max"] = Field(
        default="unit",
        description="How scores become relevance. unit: as they are if bounded, else divided by their maximum; "
        "max: always divided by their maximum; min_max: stretched to [0, 1].",
    )
    top_k: int | None = Field(default=None, ge=1, description="Number of hits to keep; all if not given.")
    candidates: int = Field(
        default=500, ge=1, description="Number of hits, from the top, to select from; the others follow in their order."
    )

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - relevance is in the scores
        """Reorder hits by marginal relevance."""
        hits = checked(hits)
        scored = [hit for hit in hits if hit.score is not None]
        scored, beyond = scored[: self.candidates], scored[self.candidates :]
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
                vector_from=vectors.origins[place],
            )
            for rank, (place, gain) in enumerate(zip(order, gains, strict=True), start=1)
        ]
        rest = [
            hit.rescored(
                hit.score, self.kind, strategy=self.strategy, rank=rank, mmr=None, relevance=None, vector_from=None
            )
            for rank, hit in enumerate([*beyond, *unscored], start=len(picked) + 1)
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
    diversify = of_extra("pyversity", "pyversity").diversify
    # a separate dimension for each hit without a vector: orthogonal to all others, but of the same length
    without = np.flatnonzero(~vectors.known)
    rows = np.hstack([vectors.rows, np.zeros((len(relevance), len(without)), np.float32)])
    rows[without, vectors.rows.shape[1] + np.arange(len(without))] = 1
    result = diversify(rows, relevance, k=top_k, strategy=strategy, diversity=1 - relevance_weight)
    order = [int(place) for place in result.indices]
    gains = [float(gain) if np.isfinite(gain) else None for gain in result.selection_scores]
    chosen = set(order)
    # dpp may stop early when the remaining vectors are linearly dependent
    rest = [int(place) for place in np.argsort(-relevance, kind="stable") if int(place) not in chosen]
    return (order + rest)[:top_k], (gains + [None] * len(rest))[:top_k]
