"""The vectors of hits as one matrix, whatever they are from, and the cosines of hits to the question."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from hopweave.errors import EmbeddingError, HopweaveError
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge
from hopweave.language.words import CJK
from hopweave.query import Query

COLUMNS = 4096  # hash collisions change similarities by less than 0.01

_WORD = re.compile(rf"[{CJK}]|[^\W{CJK}]+")

VectorOrigin = Literal["hit", "knowledge", "embedder", "lexical"]


@dataclass(frozen=True, slots=True, eq=False)
class HitVectors:
    """One row of unit length per hit, zeros where there is no vector; `origins` has the origin of each vector."""

    rows: npt.NDArray[np.float32]
    origins: tuple[VectorOrigin | None, ...]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which hits have a vector."""
        return np.array([origin is not None for origin in self.origins], dtype=bool)


def unit_vectors(
    hits: Sequence[Hit],
    knowledge: Knowledge | None = None,
    dimension: int | None = None,
    *,
    lexical: bool = False,
    model: str | None = None,
) -> HitVectors:
    """The vectors of the hits, else those the knowledge base has stored or computes, scaled to length 1.

    Vectors with another number of dimensions than `dimension` (by default that of the first one found) come from
    another model and count as missing, as do zero vectors and vectors with NaN. `model` names the one whose stored
    vectors to take, by default the knowledge base's own. With `lexical`, and if the knowledge
    base allows it, hits without a vector get a lexical vector in separate columns: they can be similar to one another,
    but never to a hit with a dense vector.

    >>> found = unit_vectors([Hit("a", vector=np.array([3.0, 4.0], np.float32)), Hit("b")])
    >>> found.rows.round(1).tolist(), found.origins
    ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], ('hit', None))
    """
    found: list[Vector | None] = [hit.vector for hit in hits]
    origins: list[VectorOrigin | None] = [None if vector is None else "hit" for vector in found]
    if knowledge is not None:
        _add_stored(hits, knowledge, model, found, origins)
        if Capability.TEXT_EMBEDDER in knowledge.capabilities:
            _add_embedded(hits, knowledge, found, origins)
    rows, unusable = _unit_rows(found, dimension)
    origins = [None if bad else origin for origin, bad in zip(origins, unusable, strict=True)]
    if lexical and knowledge is not None and Capability.WORD_VECTORS in knowledge.capabilities:
        rows = np.hstack([rows, _lexical_columns(hits, origins)])
    return HitVectors(rows, tuple(origins))


def _add_stored(
    hits: Sequence[Hit],
    knowledge: Knowledge,
    model: str | None,
    found: list[Vector | None],
    origins: list[VectorOrigin | None],
) -> None:
    """Fill gaps in `found` with vectors that the knowledge base has stored."""
    missing = [place for place, vector in enumerate(found) if vector is None]
    named = {} if model is None else {"model": model}
    stored = knowledge.vectors([hits[place].id for place in missing], **named) if missing else {}
    for place in missing:
        if hits[place].id in stored:
            found[place], origins[place] = stored[hits[place].id], "knowledge"


def _add_embedded(
    hits: Sequence[Hit], knowledge: Knowledge, found: list[Vector | None], origins: list[VectorOrigin | None]
) -> None:
    """Fill gaps in `found` with vectors that an embedder computes from the texts."""
    missing = [place for place, vector in enumerate(found) if vector is None and hits[place].text.strip()]
    vectors = knowledge.embed_texts([hits[place].text for place in missing]) if missing else []
    for place, vector in zip(missing, vectors, strict=True):
        found[place], origins[place] = vector, "embedder"


def _lexical_columns(hits: Sequence[Hit], origins: list[VectorOrigin | None]) -> npt.NDArray[np.float32]:
    """Lexical vectors of the hits without an origin, which is set; zeros for all other hits."""
    missing = [place for place, origin in enumerate(origins) if origin is None]
    rows, unusable = _unit_rows(list(lexical_vectors([hits[place].text for place in missing])), None)
    columns = np.zeros((len(hits), rows.shape[1]), np.float32)
    columns[missing] = rows
    for place, bad in zip(missing, unusable, strict=True):
        origins[place] = None if bad else "lexical"
    return columns


def _unit_rows(
    vectors: Sequence[Vector | None], dimension: int | None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The vectors as rows of length 1, and a mask of those that are missing or unusable."""
    if dimension is None:
        dimension = next((len(vector) for vector in vectors if vector is not None), 0)
    fitting = [place for place, vector in enumerate(vectors) if vector is not None and len(vector) == dimension]
    rows = np.zeros((len(vectors), dimension), np.float32)
    if fitting:
        rows[fitting if len(fitting) < len(vectors) else slice(None)] = [vectors[place] for place in fitting]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    unusable = ~np.isfinite(lengths) | (lengths == 0)
    rows[unusable] = 0
    rows /= np.where(unusable, np.float32(1), lengths)[:, None]
    return rows, unusable


def lexical_vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """One row per text with the square root of each word's count; case is ignored, a CJK character is a word.

    The cosine of two rows is 1 for texts of the same words and 0 for texts without a common word.

    >>> rows = lexical_vectors(["the tide gate", "The gate, the tide", "a ferry"])
    >>> bool(rows[0] @ rows[1] > 0), float(rows[0] @ rows[2])
    (True, 0.0)
    """
    rows = np.zeros((len(texts), COLUMNS), np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word, count in Counter(_WORD.findall(text.casefold())).items():
            row[crc32(word.encode(errors="surrogatepass")) % COLUMNS] += count
    np.sqrt(rows, out=rows)
    return rows


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
