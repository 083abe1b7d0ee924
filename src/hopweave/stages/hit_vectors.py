"""The vectors of hits as one matrix, wherever they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hopweave.component import Knowledge
from hopweave.hit import Hit, Vector
from hopweave.stages.lexical_vectors import lexical_vectors

Keeper = Literal["hit", "knowledge", "embedder", "lexical"]


@runtime_checkable
class MakesVectors(Protocol):
    """A keeper of vectors that makes those it does not keep; `VectorFinder` is one."""

    lexical: bool

    def embedded(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, made in one call; an empty list if there is no embedder."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class HitVectors:
    """One row of unit length per hit, zeros where there is no vector; `kept_by` says where each one came from."""

    rows: npt.NDArray[np.float32]
    kept_by: tuple[Keeper | None, ...]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which hits have a vector."""
        return np.array([keeper is not None for keeper in self.kept_by], dtype=bool)


def unit_vectors(
    hits: Sequence[Hit], knowledge: Knowledge | None = None, dimension: int | None = None, *, lexical: bool = False
) -> HitVectors:
    """The hits' own vectors, else those the knowledge base keeps or makes, scaled to length 1.

    Vectors of another length than `dimension` (by default that of the first one found) come from another model:
    they count as missing, and so do zero vectors and such with NaN. With `lexical`, and if the knowledge base offers
    it, hits that are left without one are compared by their words, in columns of their own: like one another at
    best, never like a hit with a vector.

    >>> found = unit_vectors([Hit("a", vector=np.array([3.0, 4.0], np.float32)), Hit("b")])
    >>> found.rows.round(1).tolist(), found.kept_by
    ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], ('hit', None))
    """
    found: list[Vector | None] = [hit.vector for hit in hits]
    kept_by: list[Keeper | None] = [None if vector is None else "hit" for vector in found]
    missing = [place for place, vector in enumerate(found) if vector is None]
    stored = knowledge.vectors([hits[place].id for place in missing]) if knowledge is not None and missing else {}
    for place in missing:
        if hits[place].id in stored:
            found[place], kept_by[place] = stored[hits[place].id], "knowledge"
    if isinstance(knowledge, MakesVectors):
        missing = [place for place in missing if found[place] is None and hits[place].text.strip()]
        made = knowledge.embedded([hits[place].text for place in missing])
        for place, vector in zip(missing, made, strict=False):  # none at all without an embedder
            found[place], kept_by[place] = vector, "embedder"
    rows, useless = _unit_rows(found, dimension)
    kept_by = [None if nothing else keeper for keeper, nothing in zip(kept_by, useless, strict=True)]
    if lexical and isinstance(knowledge, MakesVectors) and knowledge.lexical:
        missing = [place for place, keeper in enumerate(kept_by) if keeper is None]
        words, wordless = _unit_rows(list(lexical_vectors([hits[place].text for place in missing])), None)
        columns = np.zeros((len(hits), words.shape[1]), np.float32)
        columns[missing] = words
        rows = np.hstack([rows, columns])
        for place, nothing in zip(missing, wordless, strict=True):
            kept_by[place] = None if nothing else "lexical"
    return HitVectors(rows, tuple(kept_by))


def _unit_rows(
    vectors: Sequence[Vector | None], dimension: int | None
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The vectors as rows of length 1, and which of them are of no use."""
    if dimension is None:
        dimension = next((len(vector) for vector in vectors if vector is not None), 0)
    fitting = [place for place, vector in enumerate(vectors) if vector is not None and len(vector) == dimension]
    rows = np.zeros((len(vectors), dimension), np.float32)
    if fitting:
        rows[fitting if len(fitting) < len(vectors) else slice(None)] = [vectors[place] for place in fitting]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    useless = ~np.isfinite(lengths) | (lengths == 0)
    rows[useless] = 0
    rows /= np.where(useless, np.float32(1), lengths)[:, None]
    return rows, useless
