"""Near-duplicates step back behind everything that says something new."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from hopweave.component import Knowledge, Stage
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import checked
from hopweave.stages.hit_vectors import unit_vectors


class Deferral(Stage):
    """A hit more similar than `max_similarity` to one already chosen moves to the end. Nothing is dropped.

    Hits are taken in the order given. A hit without a vector is similar to none. Scores stay as they are.

    >>> east, north = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    >>> hits = [Hit("a", 0.9, vector=east), Hit("copy of a", 0.8, vector=east), Hit("b", 0.7, vector=north)]
    >>> [hit.id for hit in Deferral().apply(hits, Query("ferries"))]
    ['a', 'b', 'copy of a']
    """

    kind: Literal["deferral"] = "deferral"
    max_similarity: float = Field(0.85, ge=-1, le=1, description="Cosine above which a hit repeats a chosen one.")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - the question does not matter
        """Put hits that repeat a better one last."""
        hits = checked(hits)
        vectors = unit_vectors(hits, knowledge, lexical=True)
        known = vectors.known
        repeats = np.full(len(hits), -1)
        similarity = np.zeros(len(hits), np.float32)
        for place in np.flatnonzero(known):
            if repeats[place] < 0:
                likeness = vectors.rows[place + 1 :] @ vectors.rows[place]
                fresh = np.flatnonzero(
                    (likeness > self.max_similarity) & known[place + 1 :] & (repeats[place + 1 :] < 0)
                )
                repeats[place + 1 + fresh] = place
                similarity[place + 1 + fresh] = likeness[fresh]
        settled = [
            hit.rescored(hit.score, self.kind, deferred=False, vector_from=keeper)
            if first < 0
            else hit.rescored(
                hit.score,
                self.kind,
                deferred=True,
                repeats=hits[first].id,
                similarity=float(likeness),
                vector_from=keeper,
            )
            for hit, first, likeness, keeper in zip(hits, repeats, similarity, vectors.kept_by, strict=True)
        ]
        return [settled[place] for place in np.argsort(repeats >= 0, kind="stable")]
