"""Cosine of hits to the question."""

from collections.abc import Sequence

import numpy as np

from hopweave.errors import EmbeddingError, HopweaveError
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.stages.similarity.hit_vectors import unit_vectors


def question_cosines(hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[float | None]:
    """Cosine of each hit to the question, None where a vector is missing; an error if there is not a single one.

    The vector of the question is that of the query, or the knowledge base embeds it.

    >>> north, east = np.array([0.0, 1.0], np.float32), np.array([1.0, 0.0], np.float32)
    >>> question_cosines([Hit("a", vector=north), Hit("b", vector=east), Hit("c")], Query("?", vector=north))
    [1.0, 0.0, None]
    >>> question_cosines([Hit("a", vector=north)], Query("?"))
    Traceback (most recent call last):
        ...
    hopweave.errors.EmbeddingError: the question has no vector, and there is no knowledge base to embed it
    """
    model, question = None, query.vector
    if question is None:
        if knowledge is None:
            raise EmbeddingError("the question has no vector, and there is no knowledge base to embed it")
        model, question = knowledge.embed(query.text)
    length = float(np.linalg.norm(question))
    if not np.isfinite(length) or length == 0:
        raise EmbeddingError("the vector of the question is zero or not finite")
    vectors = unit_vectors(hits, knowledge, dimension=len(question), model=model)
    if not vectors.known.any():
        raise EmbeddingError(f"no hit has a vector of {len(question)} dimensions, as the question has")
    return [
        float(cosine) if origin is not None else None
        for cosine, origin in zip(vectors.rows @ (question / length), vectors.origins, strict=True)
    ]


def cosines_or_reason(
    hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None
) -> tuple[list[float | None] | None, str | None]:
    """The cosines, or the reason why there are none."""
    try:
        return question_cosines(hits, query, knowledge), None
    except HopweaveError as error:
        return None, str(error)


def blended(new: float, original: float | None, share: float) -> float:
    """`share` parts of the new score; the rest is the original one, if there is one.

    >>> blended(1.0, 0.5, 0.25), blended(1.0, None, 0.25)
    (0.625, 1.0)
    """
    return new if original is None else share * new + (1 - share) * original
