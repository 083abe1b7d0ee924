"""Cosine search: documents that mean something close to the question."""

from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Literal

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
_NOTHING = np.empty(0, np.int64), np.empty(0, np.float32)
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
        index = self._copy()
        if removed is not None and len(removed):
            kept = ~np.isin(self.rows, removed)
            index.rows, index._matrix = self.rows[kept], self._matrix[kept]
        if rows is not None and vectors is not None and len(rows):
            unit, nonzero = _normalised(vectors)
            index.rows = np.concatenate([index.rows, np.asarray(rows, np.int64)[nonzero]])
            index._matrix = np.concatenate([index._matrix, unit[nonzero]])
        return index

    def search(self, vector: Vector, top_k: int, allowed: Rows | None = None) -> tuple[Rows, Matrix]:
        """Rows and cosines, best first. All rows that tie with the last one are given as well, perhaps a few more."""
        unit, nonzero = _normalised(np.asarray(vector, np.float32).reshape(1, -1))
        if not len(self.rows) or not nonzero[0]:
            return _NOTHING
        if allowed is None and self._approximate is not None and len(self.rows) > self.approximate_above:
            return self._search_approximately(unit, top_k)
        return self._search_exactly(unit, top_k, allowed)

    @property
    def outdated(self) -> bool:
        """Whether the HNSW graph is needed, but missing or so far from the vectors that it is worth building anew."""
        covered = np.count_nonzero(self._covered)
        wanted = (1 - _REBUILD_SHARE) * max(len(self.rows), self._approximate_size)
        return len(self.rows) > self.approximate_above and bool(covered < wanted)

    def with_approximation(self, data: bytes | None = None) -> "VectorIndex":
        """The index with another HNSW graph: the one in these bytes, or a fresh one."""
        import faiss

        index = self._copy()
        if data is not None:
            index._approximate = _read(data)
        else:
            graph = faiss.IndexHNSWFlat(self.dimension, _NEIGHBOURS, faiss.METRIC_INNER_PRODUCT)
            index._approximate = faiss.IndexIDMap2(graph)
            index._approximate.add_with_ids(self._matrix, self.rows)
        return index

    def approximate_bytes(self) -> bytes | None:
        """The HNSW graph as bytes, to be kept in a file and given back later."""
        import faiss

        return None if self._approximate is None else faiss.serialize_index(self._approximate).tobytes()

    def _copy(self) -> "VectorIndex":
        index = copy(self)
        for derived in ("_flat", "_covered", "_late"):
            index.__dict__.pop(derived, None)
        return index

    def _search_exactly(self, unit: Matrix, top_k: int, allowed: Rows | None) -> tuple[Rows, Matrix]:
        import faiss

        # Always with a selector: without one, FAISS goes over to matrix products from some ten thousand vectors on,
        # which for one question takes ten times as long and lets the last digit of a cosine depend on their number.
        available, selector = len(self.rows), faiss.IDSelectorAll()
        if allowed is not None:
            visible = np.isin(self.rows, allowed)
            available = int(np.count_nonzero(visible))
            selector = faiss.IDSelectorBitmap(np.packbits(visible, bitorder="little"))
        if not available:
            return _NOTHING
        wanted = min(top_k + 8, available)
        while True:  # until the last score differs from the one at top_k, so that no tie is cut in two
            cosines, positions = self._flat.search(unit, wanted, params=faiss.SearchParameters(sel=selector))
            if wanted == available or cosines[0, -1] < cosines[0, top_k - 1]:
                return self.rows[positions[0]], cosines[0]
            wanted = min(wanted * 4, available)

    def _search_approximately(self, unit: Matrix, top_k: int) -> tuple[Rows, Matrix]:
        import faiss

        wanted = min(2 * top_k, self._approximate_size)
        while True:  # until enough of what is found is still there
            parameters = faiss.SearchParametersHNSW(efSearch=max(2 * wanted, 64))
            cosines, rows = self._approximate.search(unit, wanted, params=parameters)
            alive = np.isin(rows[0], self.rows)
            if wanted == self._approximate_size or np.count_nonzero(alive) >= top_k:
                break
            wanted = min(wanted * 4, self._approximate_size)
        late_rows, late_cosines = self._late.search(unit[0], top_k)
        rows, cosines = np.concatenate([rows[0][alive], late_rows]), np.concatenate([cosines[0][alive], late_cosines])
        found = best_and_ties(cosines, top_k)
        found = found[np.argsort(-cosines[found], kind="stable")]
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

    @cached_property
    def _late(self) -> "VectorIndex":
        """What came after the HNSW graph was built."""
        late = VectorIndex(self.dimension, len(self.rows))
        late.rows, late._matrix = self.rows[~self._covered], self._matrix[~self._covered]
        return late

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

    in_memory: ClassVar[bool] = True

    kind: Literal["vector"] = "vector"
    model: str | None = Field(
        None, description="Model that made the vector which comes with a question; the knowledge base's when not given."
    )

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        if query.vector is None and not query.text.strip():
            return []
        model, vector = (self.model, query.vector) if query.vector is not None else knowledge.embed(query.text)
        ranking = knowledge.rank_vectors(vector, model=model, top_k=self.top_k, tenant=query.tenant)
        return fetched(ranking, knowledge, query, "vector", "cosine", model=model or "given with the question")


def _normalised(vectors: Matrix) -> tuple[Matrix, npt.NDArray[np.bool_]]:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))  # squares may not fit float32
    return (vectors / np.where(lengths > 0, lengths, 1)[:, None]).astype(np.float32), lengths > 0


def _read(approximate: bytes) -> Any:
    import faiss

    return faiss.deserialize_index(np.frombuffer(approximate, np.uint8))
