"""The indexes of a file: each starts from its image and follows what was written since."""

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from hopweave.document import searchable
from hopweave.errors import InvalidImage
from hopweave.graph.build.changes import apply
from hopweave.graph.storage import ledger, tables
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph.storage.tables import GraphTables
from hopweave.knowledge_base.conditions import Rows
from hopweave.knowledge_base.connections import grouped
from hopweave.knowledge_base.images import ImageFolder, Noted, noted
from hopweave.metadata.whole_document import whole_document
from hopweave.sources.pagerank import PageRank
from hopweave.storage.images import Array, Image
from hopweave.storage.strings import string_hash
from hopweave.text import bm25_index
from hopweave.text.analyzers import analyzer, term_counts
from hopweave.text.bm25_index import BM25Index
from hopweave.vector import latent_index, vector_index
from hopweave.vector.latent_index import CountsOf, LatentIndex, Part
from hopweave.vector.vector_index import VectorIndex

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """An index in memory: the version of the file it belongs to, and how far it has read.

    `position` is the last row, or the last sequence number of the ledger. `image` is the file it started from, and
    `base_version` the version that file belongs to; both are empty for an index made from rows alone.
    """

    value: T
    version: int
    position: int
    image: str = ""
    base_version: int = -1


class LiveIndex(ABC, Generic[T]):
    """How one index is opened, brought up to date and written. The values are never changed once handed out."""

    format_version: ClassVar[int]
    writable: ClassVar[bool] = False  # whether the arrays of an image are mapped copy-on-write
    due_share: ClassVar[float] = 0.1  # of an index that has changed, from which a new image is worth its making
    anew_for_image: ClassVar[bool] = False  # whether an image is made by `for_image` though `followed` changes nothing
    private: ClassVar[bool] = (
        False  # whether `followed` changes its value, so that an image is made from one of its own
    )

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def empty(self) -> T:
        """The index of no documents."""

    @abstractmethod
    def opened(self, image: Image) -> T:
        """The index of an image; `InvalidImage` if its arrays do not fit together."""

    @abstractmethod
    def followed(self, held: Held[T], connection: sqlite3.Connection) -> tuple[T, int]:
        """The index with all that happened after `held`, and the position up to which it has read."""

    @abstractmethod
    def arrays(self, value: T) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """What an image of the index holds: a header and arrays."""

    @abstractmethod
    def size(self, value: T) -> int:
        """How many entries the index has, against which changes are weighed."""

    @abstractmethod
    def changes(self, connection: sqlite3.Connection, image: Noted | None) -> int:
        """How many entries have come or gone since the image; all of them if there is none. Cheap to ask."""

    def changed_share(self, connection: sqlite3.Connection) -> float:
        """What share of the index is not in its image."""
        image = noted(connection, self.name)
        return min(self.changes(connection, image) / max(image.size, 1), 1.0) if image else 1.0

    def same(self, one: T, other: T) -> bool:  # noqa: ARG002 - for those that cannot compare
        """Whether two indexes are equal; those that cannot be compared rely on their checksum."""
        return True

    def can_follow(self, held: Held[T], connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - for those that cannot
        """Whether all that happened after `held` is still known."""
        return True

    def current(
        self, held: Held[T] | None, version: int, connection: sqlite3.Connection, folder: ImageFolder
    ) -> Held[T]:
        """The index as the connection sees the file, starting from what is held or from a newer image."""
        image = noted(connection, self.name)
        start = held
        if start is None or not self.can_follow(start, connection) or self._newer(image, start):
            start = self.from_image(image, folder)
        value, position = self.followed(start, connection)
        return Held(value, version, position, start.image, start.base_version)

    def for_image(self, version: int, connection: sqlite3.Connection, folder: ImageFolder) -> Held[T]:
        """A copy of the index that nobody else uses, to make an image of it."""
        return self.current(None, version, connection, folder)

    def _newer(self, image: Noted | None, held: Held[T]) -> bool:
        return image is not None and image.file != held.image and image.version > held.base_version

    def from_image(self, image: Noted | None, folder: ImageFolder) -> Held[T]:
        """The index of an image alone; an empty one at position 0 if there is none that can be used."""
        if image is None:
            return Held(self.empty(), 0, 0)
        try:
            return self.mapped(image, folder)
        except InvalidImage as error:
            folder.unusable(image, error)
        # the file is noted although it is damaged, so that it is not tried again at every change
        return Held(self.empty(), 0, 0, image.file, image.version)

    def mapped(self, image: Noted, folder: ImageFolder) -> Held[T]:
        """The index of an image alone; `InvalidImage` says why there is none."""
        opened = self.opened(folder.open(image, self.format_version, writable=self.writable))
        return Held(opened, image.version, image.position, image.file, image.version)


_TermCounts = tuple[int, Any, Any]
_FEW_ROWS = 2000  # are read one by one; more by reading all


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


class LiveLatent(_OverRows[LatentIndex]):
    """The latent spaces of parts of documents, by the terms of an analyzer; empty where no passage is a part."""

    format_version = latent_index.FORMAT
    anew_for_image = True
    due_share = 4.0  # learning costs more than reading rows, so a file that grows is not learned from again and again

    def __init__(self, analyzer_name: str, *, stored: bool) -> None:
        super().__init__(f"latent:{analyzer_name}")
        self._analyzer = analyzer_name
        self._stored = stored

    def empty(self) -> LatentIndex:
        """No documents."""
        return LatentIndex.empty()

    def opened(self, image: Image) -> LatentIndex:
        """Mapped axes and directions."""
        return LatentIndex.from_arrays(image.header, image.arrays)

    def followed(self, held: Held[LatentIndex], connection: sqlite3.Connection) -> tuple[LatentIndex, int]:
        """New parts in, removed rows out; axes are learned anew when enough has changed."""
        removed, last = _removed(connection, held.version), last_row(connection)
        passages = last_count(connection, held.position) - int(np.count_nonzero(removed <= held.position))
        changed = held.value.changed(list(_parts(connection, held.position)), removed, self.counts_of(connection))
        return replace(changed, passages=held.value.passages + passages), last

    def for_image(self, version: int, connection: sqlite3.Connection, folder: ImageFolder) -> Held[LatentIndex]:
        """Learned from what there is now, whatever there was before."""
        held = super().for_image(version, connection, folder)
        return replace(held, value=held.value.learned(self.counts_of(connection))) if held.value.changes else held

    def counts_of(self, connection: sqlite3.Connection) -> CountsOf:
        """A function that reads the term counts of rows."""
        return lambda rows: _term_counts(connection, self._analyzer, rows, stored=self._stored)

    def arrays(self, value: LatentIndex) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """Axes and directions."""
        return value.arrays()

    def size(self, value: LatentIndex) -> int:
        """Documents, parts or not."""
        return value.passages

    def same(self, one: LatentIndex, other: LatentIndex) -> bool:
        """Whether they have the same axes, and the same directions under the same rows."""
        mine, others = one.arrays()[1], other.arrays()[1]
        return all(np.array_equal(array, others[name]) for name, array in mine.items())


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


def last_count(connection: sqlite3.Connection, after: int) -> int:
    """How many documents have a row after this one."""
    return int(connection.execute("SELECT count(*) FROM documents WHERE row > ?", (after,)).fetchone()[0])


def _parts(connection: sqlite3.Connection, after: int) -> Iterator[Part]:
    """The parts of documents among the rows after this one."""
    found = connection.execute("SELECT row, id, metadata FROM documents WHERE row > ? ORDER BY row", (after,))
    for row, id_, metadata in found:
        if whole := whole_document(id_, json.loads(metadata)):
            yield Part(row, string_hash(id_), string_hash(whole))


def _term_counts(
    connection: sqlite3.Connection, name: str, rows: Rows, *, stored: bool
) -> list[tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]]:
    """The term counts of rows, sorted rows in, one after the other out."""
    if len(rows) > _FEW_ROWS:
        wanted, read = set(rows.tolist()), (_stored_terms if stored else _analysed_terms)
        return [(keys, counts) for row, keys, counts in read(connection, name, int(rows[0]) - 1) if row in wanted]
    found = {}
    for marks, group in grouped(rows.tolist()):
        if stored:
            query = f"SELECT row, keys, counts FROM terms WHERE analyzer = ? AND row IN ({marks})"
            for row, keys, counts in connection.execute(query, [name, *group]):
                found[row] = np.frombuffer(keys, np.uint64), np.frombuffer(counts, np.int32)
        else:
            analyse = analyzer(name)
            query = f"SELECT row, title, text FROM documents WHERE row IN ({marks})"
            for row, title, text in connection.execute(query, group):
                found[row] = term_counts(analyse(searchable(title, text)))
    return [found[row] for row in rows.tolist()]


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


class LiveGraph(LiveIndex[TableGraph]):
    """The graph over its tables. Following changes the tables; graphs that were handed out keep the edges they had."""

    format_version = tables.FORMAT
    writable = True
    private = True

    def __init__(self) -> None:
        super().__init__("graph")

    def empty(self) -> TableGraph:
        """No documents."""
        return TableGraph(GraphTables())

    def opened(self, image: Image) -> TableGraph:
        """Mapped tables."""
        try:
            return TableGraph(GraphTables(image.header, image.arrays))
        except (KeyError, ValueError, IndexError) as error:
            raise InvalidImage(f"image of the graph: {error!r}") from error

    def can_follow(self, held: Held[TableGraph], connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - its shape
        """Not if a change was interrupted halfway."""
        return held.value.tables.is_whole

    def followed(self, held: Held[TableGraph], connection: sqlite3.Connection) -> tuple[TableGraph, int]:
        """The contributions that are new, and those that are gone."""
        changes = ledger.changes(connection, held.position)
        if held.value.version and not changes.current and not changes.gone and not changes.whole:
            return held.value, changes.sequence
        followed = GraphTables() if changes.whole else held.value.tables
        if changes.current or changes.gone:
            # from nothing, documents are numbered by id, so that equal contents give equal scores to the last digit
            apply(followed, changes.current, changes.gone)
        version = int(connection.execute("SELECT version FROM state").fetchone()[0])
        return TableGraph(followed, version), changes.sequence

    def for_image(self, version: int, connection: sqlite3.Connection, folder: ImageFolder) -> Held[TableGraph]:
        """From nothing if words or names of documents that are gone are left: no image may keep them."""
        held = super().for_image(version, connection, folder)
        if held.value.tables.has_leftovers:
            value, position = self.followed(Held(self.empty(), 0, 0), connection)
            return Held(value, version, position)
        return held

    def arrays(self, value: TableGraph) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """The tables, with the stationary distribution that PageRank uses."""
        PageRank().prepare(value)
        return value.tables.image()

    def size(self, value: TableGraph) -> int:
        """Documents."""
        return value.tables.documents

    def changes(self, connection: sqlite3.Connection, image: Noted | None) -> int:
        """Entries of the ledger that were written since the image."""
        return ledger.last_sequence(connection) - (image.position if image else 0)

    def same(self, one: TableGraph, other: TableGraph) -> bool:
        """Whether they have the same nodes and edges, however these are numbered."""
        mine, others = _by_id(one), _by_id(other)
        return all(np.array_equal(a, b) for a, b in zip(mine[:-1], others[:-1], strict=True)) and np.allclose(
            mine[-1], others[-1], rtol=1e-9
        )


def _by_id(graph: TableGraph) -> tuple[Array, ...]:
    """The hashes of ids in order, and edges as source, target, type and weight in the order of such hashes."""
    nodes = np.array([string_hash(id_) for id_ in graph.ids], np.uint64)
    edges = graph.all_edges()
    sources = nodes[np.repeat(np.arange(graph.size), np.diff(edges.offsets))]
    types = np.array([string_hash(name) for name in (*graph.edge_types, "")], np.uint64)[edges.types]
    order = np.lexsort((types, nodes[edges.targets], sources))
    there = np.array([bool(id_) for id_ in graph.ids], np.bool_)
    return np.sort(nodes[there]), sources[order], nodes[edges.targets][order], types[order], edges.weights[order]
