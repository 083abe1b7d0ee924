"""Deferral: moves near-duplicates behind all other hits."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import checked
from hopweave.stages.similarity.hit_vectors import unit_vectors


class Deferral(Stage):
    """A hit more similar than `max_similarity` to one already chosen moves to the end. Nothing is dropped.

    Hits are taken in the order given; those beyond the first `candidates` are not compared and come last. A hit without
    a vector is not similar to any other. Scores are unchanged.

    >>> east, north = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    >>> hits = [Hit("a", 0.9, vector=east), Hit("copy of a", 0.8, vector=east), Hit("b", 0.7, vector=north)]
    >>> [hit.id for hit in Deferral().apply(hits, Query("ferries"))]
    ['a', 'b', 'copy of a']
    """

    kind: Literal["deferral"] = "deferral"
    max_similarity: float = Field(
        default=0.85, ge=-1, le=1, description="Cosine above which a hit repeats a chosen one."
    )
    candidates: int = Field(
        default=500, ge=1, description="Number of hits, from the top, to compare; the others follow in their order."
    )

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - the question does not matter
        """Move hits that are similar to a better one to the end."""
        hits = checked(hits)
        hits, beyond = hits[: self.candidates], hits[self.candidates :]
        vectors = unit_vectors(hits, knowledge, lexical=True)
        known = vectors.known
        repeats = np.full(len(hits), -1)
        similarity = np.zeros(len(hits), np.float32)
        for place in np.flatnonzero(known):
            if repeats[place] < 0:
                cosine = vectors.rows[place + 1 :] @ vectors.rows[place]
                fresh = np.flatnonzero((cosine > self.max_similarity) & known[place + 1 :] & (repeats[place + 1 :] < 0))
                repeats[place + 1 + fresh] = place
                similarity[place + 1 + fresh] = cosine[fresh]
        settled = [
            hit.rescored(hit.score, self.kind, deferred=False, vector_from=origin)
            if first < 0
            else hit.rescored(
                hit.score,
                self.kind,
                deferred=True,
                repeats=hits[first].id,
                similarity=float(cosine),
                vector_from=origin,
            )
            for hit, first, cosine, origin in zip(hits, repeats, similarity, vectors.origins, strict=True)
        ]
        return [settled[place] for place in np.argsort(repeats >= 0, kind="stable")] + [
            hit.rescored(hit.score, self.kind, deferred=False, vector_from=None) for hit in beyond
        ]
