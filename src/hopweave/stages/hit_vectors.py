"""The vectors of hits as one matrix, wherever they are kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from hopweave.component import Knowledge
from hopweave.hit import Hit, Vector

Keeper = Literal["hit", "knowledge"]


@dataclass(frozen=True, slots=True, eq=False)
class HitVectors:
    """One row of unit length per hit, zeros where there is no vector; `kept_by` says where each one came from."""

    rows: npt.NDArray[np.float32]
    kept_by: tuple[Keeper | None, ...]

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which hits have a vector."""
        return np.array([keeper is not None for keeper in self.kept_by], dtype=bool)


def unit_vectors(hits: Sequence[Hit], knowledge: Knowledge | None = None, dimension: int | None = None) -> HitVectors:
    """The hits' own vectors, else those the knowledge base keeps, scaled to length 1.

    Vectors of another length than `dimension` (by default that of the first one found) come from another model:
    they count as missing, and so do zero vectors and such with NaN.

    >>> found = unit_vectors([Hit("a", vector=np.array([3.0, 4.0], np.float32)), Hit("b")])
    >>> found.rows.round(1).tolist(), found.kept_by
    ([[0.6000000238418579, 0.800000011920929], [0.0, 0.0]], ('hit', None))
    """
    missing = [hit.id for hit in hits if hit.vector is None]
    stored = knowledge.vectors(missing) if knowledge is not None and missing else {}
    found: list[Vector | None] = [stored.get(hit.id) if hit.vector is None else hit.vector for hit in hits]
    if dimension is None:
        dimension = next((len(vector) for vector in found if vector is not None), 0)
    fitting = [place for place, vector in enumerate(found) if vector is not None and len(vector) == dimension]
    rows = np.zeros((len(hits), dimension), np.float32)
    if fitting:
        rows[fitting if len(fitting) < len(hits) else slice(None)] = [found[place] for place in fitting]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    useless = ~np.isfinite(lengths) | (lengths == 0)
    rows[useless] = 0
    rows /= np.where(useless, np.float32(1), lengths)[:, None]
    kept_by: list[Keeper | None] = [None] * len(hits)
    for place in fitting:
        if not useless[place]:
            kept_by[place] = "knowledge" if hits[place].vector is None else "hit"
    return HitVectors(rows, tuple(kept_by))
