"""The indexes of a file that are held in memory, brought up to date when it changes."""

import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import LRUCache
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.hit import Vector
from hopweave.knowledge import Ranking, ScoredRanking
from hopweave.knowledge_base.conditions import Rows, Tenant, passing_rows, tenant_condition
from hopweave.knowledge_base.connections import Connections, Pin, grouped
from hopweave.knowledge_base.images import ImageFolder, Noted
from hopweave.knowledge_base.live_indexes import (
    Held,
    LiveGraph,
    LiveIndex,
    LiveLatent,
    LiveText,
    LiveVectors,
    last_row,
    stored_models,
)
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.metadata.filters import Filters
from hopweave.scores import ScoreDistribution
from hopweave.text.bm25_index import BM25Index
from hopweave.vector.latent_index import CountsOf, LatentIndex
from hopweave.vector.vector_index import VectorIndex

T = TypeVar("T")

logger = logging.getLogger(__name__)
_MAX_ROWS = 2**62  # what SQLite takes as a number
_ROWS_KEPT = 256  # sets of rows, of tenants and of filters
_IDS_KEPT = 200_000
_MADE_KEPT = 16
_IDS_AT_ONCE = 10_000  # reading all ids of so many documents takes a few milliseconds


class _MovedOn(Exception):
    """Another thread holds an index of a later version."""

    def __init__(self, version: int) -> None:
        self.version = version


@dataclass(slots=True, eq=False)
class Snapshot(ForkAware):
    """Indexes of one file: opened when first asked for, brought up to date when the file changes.

    Everything handed out is never changed afterwards, so threads share it without locks.
    """

    connections: Connections
    folder: ImageFolder
    stored_analyzers: tuple[str, ...]
    approximate_above: int
    _held: dict[str, Held[Any]] = field(default_factory=dict)
    _locks: defaultdict[str, Lock] = field(default_factory=lambda: defaultdict(Lock))
    _rows: LRUCache[tuple[int, str], Rows] = field(default_factory=lambda: LRUCache(_ROWS_KEPT))
    made: LRUCache[tuple[int, str], Any] = field(default_factory=lambda: LRUCache(_MADE_KEPT))  # from one version
    _ids: tuple[str, dict[int, str]] = field(default_factory=lambda: ("", {}))  # of the content restored last

    def __post_init__(self) -> None:
        watch_forks(self)

    @contextmanager
    def view(self, *indexes: LiveIndex[Any]) -> "Iterator[View]":
        """The file and these of its indexes as they are at one version, whatever is written meanwhile."""
        known = -1
        while True:
            with self.connections.reading() as connection:
                pin = self.connections.pin
                version = pin.version if pin else self._version(connection, known)
                try:
                    held = {index.name: self.held(index, connection, version) for index in indexes}
                except _MovedOn as moved:
                    known = moved.version
                    continue
                yield View(self, connection, version, held)
                return

    @contextmanager
    def one_version(self) -> Iterator[None]:
        """Until the end, all that this thread and those it starts ask of the file is of the version it has now."""
        if self.connections.pin is not None:
            yield
            return
        known = -1
        while True:
            with self.connections.pinned() as pin:
                pin.version = self._version(pin.connection, known)
                try:
                    self._bind(pin)
                except _MovedOn as moved:
                    known = moved.version
                    continue
                yield
                return

    def _bind(self, pin: Pin) -> None:
        """Keep what is held for a search, so that it can follow from there though others move on."""
        pin.held = dict(self._held)
        latest = max((held.version for held in pin.held.values()), default=-1)
        if latest > pin.version:
            raise _MovedOn(latest)
        if "graph" in pin.held:  # which changes in place: nobody can follow from an earlier one later
            self.held(LiveGraph(), pin.connection, pin.version)

    def _version(self, connection: sqlite3.Connection, known: int) -> int:
        version = version_of(connection)
        if version < known:  # though it was read after the version that is known: the file was restored from a copy
            self._held.clear()
            self._ids, self.made = ("", {}), LRUCache(_MADE_KEPT)
        return version

    def graph(self) -> TableGraph:
        """The graph that the documents make together."""
        held, pin = self._held.get("graph"), self.connections.pin
        with self.connections.autocommit_read() as connection:
            if held and held.version == (pin.version if pin else version_of(connection)):
                graph: TableGraph = held.value
                return graph
        live = LiveGraph()
        with self.view(live) as view:
            return view.index(live)

    def text(self, analyzer: str) -> LiveText:
        """The BM25 index of an analyzer; one that the file does not keep is made from the documents."""
        return LiveText(analyzer, stored=analyzer in self.stored_analyzers)

    def vectors(self, model: str) -> LiveVectors:
        """The vector index of an embedding model."""
        return LiveVectors(model, self.approximate_above)

    def latent(self, analyzer: str) -> LiveLatent:
        """The latent spaces of parts of documents, by the terms of an analyzer."""
        return LiveLatent(analyzer, stored=analyzer in self.stored_analyzers)

    def persisted(self, connection: sqlite3.Connection) -> list[LiveIndex[Any]]:
        """The indexes that images are made of."""
        return [
            *map(self.text, self.stored_analyzers),
            *map(self.vectors, stored_models(connection)),
            *map(self.latent, self.stored_analyzers[:1]),
            LiveGraph(),
        ]

    def adopt(self, index: LiveIndex[T], image: Noted) -> None:
        """Hold the index that a new image gives, unless a later state of the file is held already."""
        opened = index.from_image(image, self.folder)
        with self._locks[index.name]:
            held = self._held.get(index.name)
            if opened.position == image.position and (held is None or held.version <= image.version):
                self._held[index.name] = opened

    def held(self, index: LiveIndex[T], connection: sqlite3.Connection, version: int) -> Held[T]:
        """An index as the connection sees the file."""
        pin = self.connections.pin
        held = pin.held.get(index.name) if pin else self._held.get(index.name)
        if held is None or held.version != version:
            with self._locks[index.name]:  # one thread does the work, the others wait for it
                held = self._shared(index, connection, version, held)
        if pin:
            pin.held[index.name] = held
        return held

    def _shared(
        self, index: LiveIndex[T], connection: sqlite3.Connection, version: int, bound: Held[T] | None
    ) -> Held[T]:
        """An index that all searches share, unless they have moved on: then one for a search that is bound to it."""
        held = self._held.get(index.name)
        if held is not None and held.version > version:
            if not self.connections.pin or (index.private and bound is not None):
                raise _MovedOn(held.version)
            return self._current(index, bound, connection, version)
        if held is None or held.version < version:
            held = self._held[index.name] = self._current(index, held, connection, version)
        return held

    def _current(
        self, index: LiveIndex[T], held: Held[T] | None, connection: sqlite3.Connection, version: int
    ) -> Held[T]:
        try:
            current = index.current(held, version, connection, self.folder)
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, RecursionError) as error:
            self.connections.confirm(connection)
            raise KnowledgeBaseError(
                f"{self.connections.path}: its index {index.name} cannot be made: {error}; hopweave check tells more"
            ) from error
        self.connections.confirm(connection)
        return current

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, start again: another thread may have been in the middle of a change."""
        if in_child:
            self._held, self._locks, self._rows, self._ids = {}, defaultdict(Lock), LRUCache(_ROWS_KEPT), ("", {})
            self.made = LRUCache(_MADE_KEPT)

    def ids(self, rows: Sequence[int], connection: sqlite3.Connection) -> list[str]:
        """The ids of documents by their rows. A row is used twice only if the file is restored."""
        content = _content(connection)
        known = self._ids[1] if self._ids[0] == content else {}
        unknown = [row for row in rows if row not in known]
        if unknown and len(known) + len(unknown) > _IDS_KEPT:
            known, unknown = {}, list(rows)
        if unknown:
            known |= _ids(connection, unknown, every=not known and last_row(connection) <= _IDS_AT_ONCE)
            self._ids = (content, known)
        try:
            return [known[row] for row in rows]
        except KeyError:
            raise KnowledgeBaseError(
                f"{self.connections.path}: an index names documents that are not there; hopweave check tells more, and "
                "hopweave compact --rebuild makes the indexes again"
            ) from None

    def allowed(self, tenant: Tenant, connection: sqlite3.Connection, version: int) -> Rows:
        """The rows a tenant may see, sorted."""
        condition, values = tenant_condition(tenant)

        def rows() -> Rows:
            found = connection.execute(f"SELECT row FROM documents WHERE {condition} ORDER BY row", values)
            return np.array([row for (row,) in found], np.int64)

        return self._kept((version, repr((condition, values))), rows)

    def passing(self, filters: Filters, connection: sqlite3.Connection, version: int) -> Rows:
        """The rows of documents that pass filters, sorted."""
        if not isinstance(filters, Mapping):
            return passing_rows(connection, filters)
        return self._kept((version, f"filters {filters!r}"), lambda: passing_rows(connection, filters))

    def _kept(self, key: tuple[int, str], find: Callable[[], Rows]) -> Rows:
        def make() -> Rows:
            for old in [one for one in self._rows if one[0] < key[0] - 1]:
                self._rows.discard(old)
            return find()

        return self._rows.get_or_make(key, make)


@dataclass(frozen=True, slots=True)
class View:
    """The file and some of its indexes, by name, at one version."""

    snapshot: Snapshot
    connection: sqlite3.Connection
    version: int
    held: Mapping[str, Held[Any]]

    def index(self, live: LiveIndex[T]) -> T:
        """One of these indexes."""
        held: Held[T] = self.held[live.name]
        return held.value

    def text(self, analyzer: str) -> BM25Index:
        """The BM25 index of an analyzer."""
        return self.index(self.snapshot.text(analyzer))

    def vectors(self, model: str) -> VectorIndex | None:
        """The vector index of an embedding model, if there are vectors of it."""
        return self.index(self.snapshot.vectors(model))

    def latent(self, analyzer: str) -> LatentIndex:
        """The latent spaces of parts of documents, by the terms of an analyzer."""
        return self.index(self.snapshot.latent(analyzer))

    def latent_counts(self, analyzer: str) -> CountsOf:
        """A function that reads the term counts of rows by an analyzer."""
        return self.snapshot.latent(analyzer).counts_of(self.connection)

    def rows(self, ids: Iterable[str]) -> dict[str, int]:
        """The rows of documents by their ids; ids that do not exist are left out."""
        wanted, known = list(ids), self._known_rows
        for marks, group in grouped(key for key in wanted if key not in known):
            known |= dict(self.connection.execute(f"SELECT id, row FROM documents WHERE id IN ({marks})", group))
        return {key: known[key] for key in wanted if key in known}

    @property
    def _known_rows(self) -> dict[str, int]:
        """Rows by id that were asked for or ranked at this version."""
        known: dict[str, int] = self.snapshot.made.get_or_make((self.version, "rows"), dict)
        if len(known) > _IDS_KEPT:
            known.clear()
        return known

    def nearest(self, index: VectorIndex | None, vector: Vector, model: str, top_k: int, rows: Rows | None) -> Ranking:
        """Documents by cosine to a vector of a model, all of them or those of some rows."""
        if index is None:
            if last_row(self.connection):
                raise KnowledgeBaseError(f"{self.snapshot.connections.path}: holds no vectors of model {model!r}")
            return []
        if np.shape(vector) != (index.dimension,) or not np.isfinite(vector).all():
            raise KnowledgeBaseError(
                f"the question's vector has shape {np.shape(vector)}, but those of model {model!r} are "
                f"{index.dimension} finite numbers"
            )
        return self.ranking(*index.search(vector, top_k, rows), top_k)

    def warn_of_missing(self, vectors: int, model: str) -> None:
        """Say so in the log if a model that stands in for another cannot find all documents."""
        (count,) = self.connection.execute("SELECT count(*) FROM documents").fetchone()
        if vectors < count:
            logger.warning(
                "%s: %d of %d documents have no vector of %s, which answers in place of another model; "
                "hopweave index --repair makes them",
                self.snapshot.connections.path,
                count - vectors,
                count,
                model,
            )

    def allowed(self, tenant: Tenant | None) -> Rows | None:
        """The rows a tenant may see, sorted; None when everything is visible."""
        return None if tenant is None else self.snapshot.allowed(tenant, self.connection, self.version)

    def within(self, filters: Filters, tenant: Tenant | None) -> Rows:
        """The rows that pass filters and that a tenant may see, sorted."""
        rows, allowed = self.snapshot.passing(filters, self.connection, self.version), self.allowed(tenant)
        return rows if allowed is None else np.intersect1d(rows, allowed, assume_unique=True)

    def by_full_text(self, expression: str, top_k: int, condition: str, values: Sequence[Any]) -> Ranking:
        """Documents that match an FTS5 expression and a condition on `documents`, by SQLite's own BM25."""
        query = (
            "SELECT documents.id, -bm25(full_text) AS score FROM full_text "
            "JOIN documents ON documents.row = full_text.rowid "
            f"WHERE full_text MATCH ? AND {condition} ORDER BY score DESC, documents.id LIMIT ?"
        )
        found = self.connection.execute(query, [expression, *values, min(top_k, _MAX_ROWS)])
        return [(key, float(score)) for key, score in found]

    def ranking(
        self, rows: Rows, scores: npt.NDArray[np.floating], distribution: ScoreDistribution, top_k: int
    ) -> ScoredRanking:
        """Rows as ids, best first, equal scores by id."""
        ids = self.ids(rows)
        self._known_rows.update(zip(ids, rows.tolist(), strict=True))
        order = sorted((-score, key) for key, score in zip(ids, scores.tolist(), strict=True))
        return ScoredRanking([(key, -negative) for negative, key in order[:top_k]], distribution)

    def ids(self, rows: Rows) -> list[str]:
        """The ids of documents by their rows."""
        return self.snapshot.ids(rows.tolist(), self.connection)


def _ids(connection: sqlite3.Connection, rows: list[int], *, every: bool) -> Iterable[tuple[int, str]]:
    """Rows and ids of these rows, or of every row."""
    if every:
        yield from connection.execute("SELECT row, id FROM documents")
        return
    for start in range(0, len(rows), 500):
        group = rows[start : start + 500]
        marks = ", ".join("?" * len(group))
        yield from connection.execute(f"SELECT row, id FROM documents WHERE row IN ({marks})", group)


def _content(connection: sqlite3.Connection) -> str:
    """What tells the content that the file was restored to last from any other; empty if it never was."""
    found = connection.execute("SELECT value FROM settings WHERE name = 'restored'").fetchone()
    return str(found[0]) if found else ""


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file that this connection sees."""
    found = connection.execute("SELECT version FROM state").fetchone()
    if not found or not isinstance(found[0], int):
        raise KnowledgeBaseError("the version of the file is damaged; hopweave check lists all damage")
    return found[0]
