"""Cosine search: documents that mean something close to the question."""

from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hopweave.component import Knowledge, Rankings, Source, fetched
from hopweave.hit import Hit, Vector
from hopweave.query import Query
from hopweave.scores import best_and_ties

Rows = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float32]

_NEIGHBOURS = 32  # links per vector in the HNSW graph
_REBUILD_SHARE = 0.2  # an approximate index is built anew when this share of the vectors is new or gone


class VectorIndex:
    """FAISS inner product over L2-normalised vectors, never changed: `changed` gives a new one.

    Up to `approximate_above` vectors the search is exact. Above, an HNSW graph covers the bulk and is kept; what came
    later is searched exactly beside it, and what has gone is left out of the answer.

    >>> index = VectorIndex(2).changed(np.array([4, 9]), np.array([[3, 0], [0, 2]], np.float32))
    >>> rows, cosines = index.search(np.array([1, 1], np.float32), top_k=1)
    >>> sorted(rows.tolist()), [f"{cosine:.3f}" for cosine in cosines]
    ([4, 9], ['0.707', '0.707'])
    """

    def __init__(self, dimension: int, approximate_above: int = 100_000, approximate: bytes | None = None) -> None:
        self.dimension = dimension
        self.approximate_above = approximate_above
        self.rows: Rows = np.empty(0, np.int64)
        self._matrix: Matrix = np.empty((0, dimension), np.float32)
        self._approximate: Any = _read(approximate) if approximate else None

    def changed(
        self, rows: Rows | None = None, vectors: Matrix | None = None, removed: Rows | None = None
    ) -> "VectorIndex":
        """The index with vectors added and rows removed. New rows must be the largest. Zero vectors are left out."""
        index = VectorIndex(self.dimension, self.approximate_above)
        index.rows, index._matrix, index._approximate = self.rows, self._matrix, self._approximate
        if removed is not None and len(removed):
            kept = ~np.isin(self.rows, removed)
            index.rows, index._matrix = self.rows[kept], self._matrix[kept]
        if rows is not None and vectors is not None and len(rows):
            unit, nonzero = _normalised(vectors)
            index.rows = np.concatenate([index.rows, np.asarray(rows, np.int64)[nonzero]])
            index._matrix = np.concatenate([index._matrix, unit[nonzero]])
        return index

    def search(self, vector: Vector, top_k: int, allowed: Rows | None = None) -> tuple[Rows, Matrix]:
        """Rows and cosines. All rows that tie with the last one are given as well."""
        unit, nonzero = _normalised(np.asarray(vector, np.float32).reshape(1, -1))
        if not len(self.rows) or not nonzero[0]:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        if allowed is not None:
            visible = np.isin(self.rows, allowed)
            return _exact(self.rows[visible], self._matrix[visible], unit[0], top_k)
        if self._approximate is not None and len(self.rows) > self.approximate_above:
            return self._search_approximately(unit, top_k)
        return self._search_exactly(unit, top_k)

    def with_approximation(self) -> "VectorIndex":
        """The index with a fresh HNSW graph, if it has grown beyond `approximate_above` and the old one is outdated."""
        covered = self._covered
        outdated = np.count_nonzero(covered) < (1 - _REBUILD_SHARE) * max(len(self.rows), self._approximate_size)
        if len(self.rows) <= self.approximate_above or not outdated:
            return self
        import faiss

        index = self.changed()
        graph = faiss.IndexHNSWFlat(self.dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
        index._approximate = faiss.IndexIDMap2(graph)
        index._approximate.add_with_ids(self._matrix, self.rows)
        return index

    def approximate_bytes(self) -> bytes | None:
        """The HNSW graph as bytes, to be kept in a file and given back on construction."""
        import faiss

        return None if self._approximate is None else faiss.serialize_index(self._approximate).tobytes()

    def _search_exactly(self, unit: Matrix, top_k: int) -> tuple[Rows, Matrix]:
        wanted = min(top_k + 8, len(self.rows))
        while True:  # until the last score differs from the one at top_k, so that no tie is cut in two
            cosines, positions = self._flat.search(unit, wanted)
            if wanted == len(self.rows) or cosines[0, -1] < cosines[0, top_k - 1]:
                return self.rows[positions[0]], cosines[0]
            wanted = min(wanted * 4, len(self.rows))

    def _search_approximately(self, unit: Matrix, top_k: int) -> tuple[Rows, Matrix]:
        import faiss

        gone = self._approximate_size - int(np.count_nonzero(self._covered))
        wanted = min(top_k + gone, self._approximate_size)
        parameters = faiss.SearchParametersHNSW(efSearch=max(2 * wanted, 64))
        cosines, rows = self._approximate.search(unit, wanted, params=parameters)
        alive = np.isin(rows[0], self.rows)
        late_rows, late_cosines = _exact(self.rows[~self._covered], self._matrix[~self._covered], unit[0], top_k)
        rows, cosines = np.concatenate([rows[0][alive], late_rows]), np.concatenate([cosines[0][alive], late_cosines])
        found = best_and_ties(cosines, top_k)
        return rows[found], cosines[found]

    @cached_property
    def _flat(self) -> Any:
        import faiss

        flat = faiss.IndexFlatIP(self.dimension)
        flat.add(self._matrix)
        return flat

    @cached_property
    def _covered(self) -> npt.NDArray[np.bool_]:
        import faiss

        if self._approximate is None:
            return np.zeros(len(self.rows), bool)
        return np.isin(self.rows, faiss.vector_to_array(self._approximate.id_map))

    @property
    def _approximate_size(self) -> int:
        return 0 if self._approximate is None else int(self._approximate.ntotal)


class NearestVectors(Source):
    """Documents by cosine between their vector and that of the question.

    The question's own vector is used if it has one, else the knowledge base's embedder makes it; the receipt says
    which model answered.

    >>> NearestVectors(top_k=5).kind
    'vector'
    """

    kind: Literal["vector"] = "vector"
    model: str | None = Field(None, description="Embedding model to search; the knowledge base's own when not given.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        if query.vector is None and not query.text.strip():
            return []
        model, vector = (self.model, query.vector) if query.vector is not None else knowledge.embed(query.text)
        ranking = knowledge.rank_vectors(vector, model=model, top_k=self.top_k, tenant=query.tenant)
        return fetched(ranking, knowledge, query, "vector", "cosine", model=model or "given with the question")


def _normalised(vectors: Matrix) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32), lengths[:, 0] > 0


def _exact(rows: Rows, matrix: Matrix, unit: Vector, top_k: int) -> tuple[Rows, Matrix]:
    cosines = matrix @ unit
    found = best_and_ties(cosines, top_k)
    return rows[found], cosines[found]


def _read(approximate: bytes) -> Any:
    import faiss

    return faiss.deserialize_index(np.frombuffer(approximate, np.uint8))
