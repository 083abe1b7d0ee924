"""The indexes over rows of documents: BM25 postings and vectors."""

import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.document import searchable
from hopweave.knowledge_base.indexes.images import Noted
from hopweave.knowledge_base.indexes.live_index import Held, LiveIndex, T
from hopweave.storage.images import Array, Image
from hopweave.text import bm25_index
from hopweave.text.analyzers import analyzer
from hopweave.text.bm25_index import BM25Index, term_counts
from hopweave.vector import vector_index
from hopweave.vector.vector_index import VectorIndex

Rows = npt.NDArray[np.int64]
_TermCounts = tuple[int, Any, Any]


class _OverRows(LiveIndex[T]):
    def can_follow(self, held: Held[T], connection: sqlite3.Connection) -> bool:
        """Not if removals since then have been forgotten."""
        return held.version >= int(connection.execute("SELECT cleared FROM state").fetchone()[0])

    def changes(self, connection: sqlite3.Connection, image: Noted | None) -> int:
        """Rows added and removed since the image."""
        position, version = (image.position, image.version) if image else (0, -1)
        removed = connection.execute("SELECT count(*) FROM removed WHERE version > ?", (version,)).fetchone()[0]
        return max(last_row(connection) - position, 0) + (int(removed) if image else 0)


class LiveText(_OverRows[BM25Index]):
    """The BM25 index of an analyzer; one that the file does not keep is worked out from the documents."""

    format_version = bm25_index.FORMAT

    def __init__(self, analyzer_name: str, *, stored: bool) -> None:
        super().__init__(f"text:{analyzer_name}")
        self._analyzer = analyzer_name
        self._stored = stored

    def empty(self) -> BM25Index:
        """No documents."""
        return BM25Index()

    def opened(self, image: Image) -> BM25Index:
        """Mapped postings."""
        return BM25Index.from_arrays(image.arrays)

    def followed(self, held: Held[BM25Index], connection: sqlite3.Connection) -> tuple[BM25Index, int]:
        """New rows in, removed rows out."""
        read = _stored_terms if self._stored else _analysed_terms
        new = list(read(connection, self._analyzer, held.position))
        return held.value.changed(new, _removed(connection, held.version)), last_row(connection)

    def arrays(self, value: BM25Index) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Postings."""
        return {}, value.arrays()

    def size(self, value: BM25Index) -> int:
        """Documents."""
        return value.size

    def same(self, one: BM25Index, other: BM25Index) -> bool:
        """Whether they have the same postings."""
        arrays = other.arrays()
        return all(np.array_equal(array, arrays[name]) for name, array in one.arrays().items())


class LiveVectors(_OverRows[VectorIndex | None]):
    """The vector index of an embedding model; None as long as there are no vectors of it."""

    format_version = vector_index.FORMAT

    def __init__(self, model: str, approximate_above: int) -> None:
        super().__init__(f"vectors:{model}")
        self._model = model
        self._approximate_above = approximate_above

    def empty(self) -> VectorIndex | None:
        """No vectors."""
        return None

    def opened(self, image: Image) -> VectorIndex | None:
        """Mapped vectors."""
        index = VectorIndex.from_arrays(image.header, image.arrays, self._approximate_above)
        return index if index.size else None

    def followed(
        self, held: Held[VectorIndex | None], connection: sqlite3.Connection
    ) -> tuple[VectorIndex | None, int]:
        """New vectors in, removed ones out."""
        rows, matrix = _vectors(connection, self._model, held.position)
        index = held.value
        if index is None and len(rows):
            index = VectorIndex(matrix.shape[1], approximate_above=self._approximate_above)
        if index is not None:
            index = index.changed(rows, matrix, _removed(connection, held.version))
        return index, last_row(connection)

    def arrays(self, value: VectorIndex | None) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Vectors, in cells above a size."""
        return (value or VectorIndex(0)).arrays()

    def size(self, value: VectorIndex | None) -> int:
        """Vectors."""
        return value.size if value else 0

    def same(self, one: VectorIndex | None, other: VectorIndex | None) -> bool:
        """Whether they have the same vectors under the same rows."""
        (rows, matrix), (other_rows, other_matrix) = ((index or VectorIndex(0)).by_row() for index in (one, other))
        return np.array_equal(rows, other_rows) and (not len(rows) or np.array_equal(matrix, other_matrix))


def stored_models(connection: sqlite3.Connection) -> list[str]:
    """The embedding models that have vectors in the file or an image; the cost is that of the answer."""
    found = connection.execute(
        "WITH RECURSIVE names (name) AS (SELECT min(model) FROM vectors UNION ALL "
        "SELECT (SELECT min(model) FROM vectors WHERE model > name) FROM names WHERE name IS NOT NULL) "
        "SELECT name FROM names WHERE name IS NOT NULL "
        "UNION SELECT substr(name, 9) FROM images WHERE name LIKE 'vectors:%' ORDER BY 1"
    )
    return [name for (name,) in found]


def last_row(connection: sqlite3.Connection) -> int:
    """The largest row there is, 0 without documents."""
    return int(connection.execute("SELECT coalesce(max(row), 0) FROM documents").fetchone()[0])


def _removed(connection: sqlite3.Connection, after_version: int) -> Rows:
    found = connection.execute("SELECT row FROM removed WHERE version > ? ORDER BY row", (after_version,))
    return np.array([row for (row,) in found], np.int64)


def _stored_terms(connection: sqlite3.Connection, name: str, after: int) -> Iterator[_TermCounts]:
    found = connection.execute(
        "SELECT row, keys, counts FROM terms WHERE analyzer = ? AND row > ? ORDER BY row", (name, after)
    )
    for row, keys, counts in found:
        yield row, np.frombuffer(keys, np.uint64), np.frombuffer(counts, np.int32)


def _analysed_terms(connection: sqlite3.Connection, name: str, after: int) -> Iterator[_TermCounts]:
    analyse = analyzer(name)
    for row, title, text in connection.execute(
        "SELECT row, title, text FROM documents WHERE row > ? ORDER BY row", (after,)
    ):
        yield row, *term_counts(analyse(searchable(title, text)))


def _vectors(connection: sqlite3.Connection, model: str, after: int) -> tuple[Rows, npt.NDArray[np.float32]]:
    found = connection.execute(
        "SELECT row, vector FROM vectors WHERE model = ? AND row > ? ORDER BY row", (model, after)
    ).fetchall()
    if len({len(vector) for _, vector in found}) > 1:
        raise ValueError(f"vectors of model {model!r} differ in size")
    matrix = np.frombuffer(b"".join(vector for _, vector in found), np.float32)
    return np.array([row for row, _ in found], np.int64), matrix.reshape(len(found), -1) if found else matrix
