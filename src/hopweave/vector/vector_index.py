"""The index behind cosine search: unit vectors in segments, the largest of which may be mapped from an image."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.errors import InvalidImage
from hopweave.hit import Vector
from hopweave.scores import ScoreDistribution, best_and_ties
from hopweave.storage.segments import Flags, Rows, RowSegment, changed, rows_of
from hopweave.vector.cells import centroids_of, nearest, probes_needed

FORMAT = 1  # of the image; another number when the meaning of an array changes

Matrix = npt.NDArray[np.float32]

_NOTHING = np.empty(0, np.int64), np.empty(0, np.float32)
_SAMPLE = 1024  # vectors that stand for all of them in a search that does not look at all of them
_FEW = 0.25  # below this share of a segment, allowed rows are picked out one by one


@dataclass(frozen=True, slots=True)
class Cells:
    """How the vectors of a segment are sorted: those of cell i stand at `offsets[i]` to `offsets[i + 1]`."""

    centroids: Matrix
    offsets: Rows
    probes: int

    def slices(self, unit: Vector, probes: int) -> list[slice]:
        """Where the vectors of the cells nearest to a unit vector stand."""
        order = np.argsort(-_products(self.centroids, unit), kind="stable")[:probes]
        return [slice(int(self.offsets[cell]), int(self.offsets[cell + 1])) for cell in order]


@dataclass(frozen=True, slots=True)
class Segment(RowSegment):
    """Rows and their unit vectors; if sorted into cells, the rows are in the order of these."""

    matrix: Matrix
    cells: Cells | None = None

    def alive(self) -> tuple[Rows, Matrix]:
        """Rows and vectors that are not gone."""
        return (self.rows, self.matrix) if self.gone is None else (self.rows[~self.gone], self.matrix[~self.gone])

    def find(self, rows: Rows) -> npt.NDArray[np.intp]:
        """Where these rows are, those that are here."""
        return np.flatnonzero(np.isin(self.rows, rows))

    def cosines(self, unit: Vector, allowed: Rows | None) -> tuple[Rows, Matrix]:
        """All rows that are there and allowed, with their cosines."""
        if self.gone is None and allowed is None:
            return self.rows, _products(self.matrix, unit)
        kept = self.kept
        if allowed is not None:
            kept &= np.isin(self.rows, allowed)
        if np.count_nonzero(kept) < _FEW * len(kept):
            return self.rows[kept], _products(self.matrix[kept], unit)
        return self.rows[kept], _products(self.matrix, unit)[kept]

    def cosines_of(self, unit: Vector, wanted: Rows) -> tuple[Rows, Matrix]:
        """Of a few rows, sorted, those that are there, with their cosines."""
        if self.cells is None:
            places = np.searchsorted(self.rows, wanted)
            there = np.flatnonzero(places < len(self.rows))
            there = there[self.rows[places[there]] == wanted[there]]
            places = places[there]
        else:  # sorted by cell
            places = np.flatnonzero(np.isin(self.rows, wanted))
        if self.gone is not None:
            places = places[~self.gone[places]]
        return self.rows[places], _products(self.matrix[places], unit)

    def nearly(self, unit: Vector, top_k: int) -> Iterator[tuple[Rows, Matrix]]:
        """Rows and cosines from the cells nearest to a vector: enough for `top_k` rows, if there are so many."""
        assert self.cells  # noqa: S101 - for the type checker
        probes, found = self.cells.probes, 0
        while True:
            places = self.cells.slices(unit, probes)
            kept = [np.flatnonzero(~self.gone[one]) if self.gone is not None else slice(None) for one in places]
            parts = [
                (self.rows[one][at], _products(self.matrix[one], unit)[at])
                for one, at in zip(places, kept, strict=True)
            ]
            found = sum(len(rows) for rows, _ in parts)
            if found >= min(top_k, self.size) or probes >= len(self.cells.centroids):
                yield from parts
                return
            probes *= 2


class VectorIndex:
    """Cosine search over numbered rows, never changed: `changed` gives a new one that shares what it can.

    Up to `approximate_above` vectors the search is exact. Above, an image of the index is sorted into cells, and the
    search looks into as many of them as were measured to hold nearly all of what an exact search finds. What came
    later than the image is searched exactly, and what has gone is never found.

    >>> index = VectorIndex(2).changed(np.array([4, 9]), np.array([[3, 0], [0, 2]], np.float32))
    >>> rows, cosines, _ = index.search(np.array([1, 1], np.float32), top_k=1)
    >>> sorted(rows.tolist()), [f"{cosine:.3f}" for cosine in cosines]
    ([4, 9], ['0.707', '0.707'])
    """

    def __init__(self, dimension: int, segments: Sequence[Segment] = (), *, approximate_above: int = 100_000) -> None:
        self.dimension = dimension
        self.approximate_above = approximate_above
        self._segments = tuple(segments)
        self.size = sum(segment.size for segment in self._segments)

    @classmethod
    def from_arrays(
        cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], approximate_above: int = 100_000
    ) -> "VectorIndex":
        """The index of an image, which may be mapped; `InvalidImage` if the arrays do not fit together."""
        try:
            rows, matrix, probes = arrays["rows"], arrays["vectors"], header["probes"]
            cells = Cells(arrays["centroids"], arrays["offsets"], probes) if probes else None
        except KeyError as error:
            raise InvalidImage(f"it lacks {error}") from error
        types = {"rows": "i8", "vectors": "f4", "centroids": "f4", "offsets": "i8"}
        right = all(array.dtype == types.get(name, "") for name, array in arrays.items())
        right &= rows.ndim == 1 and matrix.ndim == 2 and len(rows) == len(matrix)
        if cells and right:
            right &= type(probes) is int and probes > 0 and cells.offsets.ndim == 1
            right &= cells.centroids.shape == (len(cells.offsets) - 1, matrix.shape[1])
            right &= bool((np.diff(cells.offsets) >= 0).all())
            right = right and (int(cells.offsets[0]), int(cells.offsets[-1])) == (0, len(rows))
        if not right:
            raise InvalidImage("its arrays do not fit together")
        segment = Segment(rows, matrix, cells=cells)
        return cls(matrix.shape[1], [segment], approximate_above=approximate_above)

    def arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """The whole index for an image: what its header has to say, and the arrays."""
        rows, matrix = self._joined(self._segments)
        if len(rows) <= self.approximate_above:
            return {"probes": 0}, {"rows": rows, "vectors": matrix}
        centroids = centroids_of(matrix)
        cells = nearest(matrix, centroids)
        order = np.argsort(cells, kind="stable")
        offsets = np.searchsorted(cells[order], np.arange(len(centroids) + 1)).astype(np.int64)
        probes = probes_needed(matrix, cells, centroids)
        arrays: dict[str, npt.NDArray[Any]] = {
            "rows": rows[order],
            "vectors": matrix[order],
            "centroids": centroids,
            "offsets": offsets,
        }
        return {"probes": probes}, arrays

    @property
    def rows(self) -> Rows:
        """The rows of the index, sorted."""
        return rows_of(self._segments)

    def by_row(self) -> tuple[Rows, Matrix]:
        """Rows, sorted, and their unit vectors."""
        rows, matrix = self._joined(self._segments)
        order = np.argsort(rows)
        return rows[order], matrix[order]

    def changed(
        self, rows: Rows | None = None, vectors: Matrix | None = None, removed: Rows | None = None
    ) -> "VectorIndex":
        """The index with vectors added and rows removed. Zero vectors, which have no direction, are left out."""
        added = None
        if rows is not None and vectors is not None and len(rows):
            unit, nonzero = _normalised(vectors)
            added = Segment(np.asarray(rows, np.int64)[nonzero], unit[nonzero])

        def join(segments: Sequence[Segment]) -> Segment:
            return Segment(*self._joined(segments))

        segments = changed(self._segments, added, removed, join, lambda one: len(one.rows))
        return VectorIndex(self.dimension, segments, approximate_above=self.approximate_above)

    def search(self, vector: Vector, top_k: int, allowed: Rows | None = None) -> tuple[Rows, Matrix, ScoreDistribution]:
        """Rows and cosines, best first, and how the cosines of all rows lie.

        All rows that tie with the last one are given as well.
        """
        unit, nonzero = _normalised(np.asarray(vector, np.float32).reshape(1, -1))
        if not self.size or not nonzero[0]:
            return *_NOTHING, ScoreDistribution(0, 0.0, 0.0)
        parts: list[tuple[Rows, Matrix]] = []
        for segment in self._segments:
            if segment.cells is None or allowed is not None or self.size <= self.approximate_above:
                parts.append(segment.cosines(unit[0], allowed))
            else:
                parts.extend(segment.nearly(unit[0], top_k))
        rows, cosines = parts[0] if len(parts) == 1 else (np.concatenate(one) for one in zip(*parts, strict=True))
        found = best_and_ties(cosines, top_k)
        found = found[np.argsort(-cosines[found], kind="stable")]
        return rows[found], cosines[found], self._distribution(unit[0], cosines, allowed)

    def scores(self, vector: Vector, rows: Rows) -> tuple[Rows, Matrix]:
        """Of these rows, sorted, those that have a vector, and its cosine."""
        unit, nonzero = _normalised(np.asarray(vector, np.float32).reshape(1, -1))
        parts = [segment.cosines_of(unit[0], rows) for segment in self._segments] if nonzero[0] else []
        found, cosines = (np.concatenate(one) for one in zip(*(_NOTHING, *parts), strict=True))
        return found, cosines

    def _distribution(self, unit: Vector, cosines: Matrix, allowed: Rows | None) -> ScoreDistribution:
        """How all cosines lie; by a sample of each segment, if not all of them were computed."""
        if allowed is not None or len(cosines) == self.size:
            return ScoreDistribution.of(cosines, len(cosines))
        sample = np.concatenate(
            [_products(one.matrix[:: max(1, len(one.rows) // _SAMPLE)], unit) for one in self._segments]
        )
        return ScoreDistribution.of(sample, len(sample))._replace(documents=self.size)

    def _joined(self, segments: Sequence[Segment]) -> tuple[Rows, Matrix]:
        parts = [segment.alive() for segment in segments]
        rows = np.concatenate([np.empty(0, np.int64), *(rows for rows, _ in parts)])
        matrix = np.concatenate([np.empty((0, self.dimension), np.float32), *(matrix for _, matrix in parts)])
        return rows, matrix


def _products(matrix: Matrix, unit: Vector) -> Matrix:
    # row by row: a matrix product would let the last digit of a cosine depend on how many rows there are
    products: Matrix = np.einsum("ij,j->i", matrix, unit)
    return products


def _normalised(vectors: Matrix) -> tuple[Matrix, Flags]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))  # squares may not fit float32
    return (vectors / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32), lengths > 0
