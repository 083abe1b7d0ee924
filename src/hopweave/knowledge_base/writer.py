"""Writing documents: a batch is prepared first, in several processes if need be, and then stored in one transaction.

Prepared are the terms, the vector and the contribution to the graph of each document by itself.
"""

import os
import pickle
import signal
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hopweave.component import Embedder
from hopweave.document import Document, checked_ids
from hopweave.errors import KnowledgeBaseError, OtherTenant
from hopweave.graph.build.builders.builder import GraphBuilder, contribute_all
from hopweave.graph.model import IMPORTED, Contribution, as_imported
from hopweave.graph.storage import ledger
from hopweave.hit import Vector
from hopweave.knowledge_base.conditions import Tenant, matching_ids, tenant_condition
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.documents import (
    Added,
    Digests,
    Entry,
    changed,
    digests,
    distinct,
    forget_source_files,
    listed,
    sources_of,
)
from hopweave.knowledge_base.schema import vector_columns
from hopweave.knowledge_base.settings import GIVEN, Settings, record_tenant_fields
from hopweave.metadata.tenants import in_tenant
from hopweave.text.analyzers import analyzer, term_counts
from hopweave.vector.embedders import Cascade

T = TypeVar("T")


class Prepared(NamedTuple):
    """Of one document: term keys and counts by analyzer, vectors by model, and its entry in the ledger."""

    terms: tuple[tuple[str, bytes, bytes], ...]
    vectors: dict[str, Vector]
    contribution: ledger.Encoded


@dataclass(frozen=True, slots=True)
class Preparer:
    """Prepares documents in the way that was settled for a file."""

    path: str
    analyzers: tuple[str, ...]
    builders: tuple[GraphBuilder, ...]
    embedder: Embedder | None
    model: str

    @classmethod
    def of(cls, path: object, settings: Settings) -> "Preparer":
        """The one for a file with these settings."""
        return cls(str(path), settings.analyzers, settings.builders, settings.embedder, settings.model)

    def prepare(self, documents: Sequence[Document]) -> list[Prepared]:
        """What is stored beside these documents; embedded in one call."""
        vectors = self._vectors(documents)
        contributions = contribute_all(self.builders, documents)
        return [
            Prepared(
                tuple((name, *_terms(name, document)) for name in self.analyzers),
                {model: np.ascontiguousarray(vector, np.float32) for model, vector in by_model.items()},
                ledger.encoded(contribution),
            )
            for document, by_model, contribution in zip(documents, vectors, contributions, strict=True)
        ]

    def _vectors(self, documents: Sequence[Document]) -> list[dict[str, Vector]]:
        """The vectors of each document by model: those it brings along are of the file's own."""
        given = [{} if one.vector is None else {self.model: one.vector} for one in documents]
        lacking = [number for number, known in enumerate(given) if not known]
        if self.embedder is None:
            if lacking and self.model != GIVEN:
                raise KnowledgeBaseError(
                    f"{self.path}: its embedder {self.model!r} is not in the file; "
                    "open it with embedder=... to add documents"
                )
            return given
        pending = range(len(documents)) if isinstance(self.embedder, Cascade) else lacking
        made = self.embedder.embed_every([documents[number].searchable for number in pending]) if pending else {}
        if made and self.model not in made and not isinstance(self.embedder, Cascade):
            raise KnowledgeBaseError(
                f"{self.path}: holds vectors of {self.model!r}, but its embedder now makes those of "
                f"{next(iter(made))!r}: its files have changed; restore them, or index into a new file"
            )
        for place, number in enumerate(pending):
            given[number] = {name: matrix[place] for name, matrix in made.items()} | given[number]
        return given


@contextmanager
def preparing(preparer: Preparer, workers: int) -> "Iterator[Pool]":
    """Processes that prepare documents; with one worker, this process does it."""
    if workers == 1:
        yield Pool(preparer, None)
        return
    try:
        pickle.dumps(preparer)
    except Exception as error:
        raise ValueError(
            f"workers must be 1, but got {workers}: the embedder or a graph builder cannot be sent to other processes: "
            f"{error}"
        ) from error
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start, initargs=(preparer,))
    try:
        yield Pool(preparer, executor)
    finally:
        executor.shutdown(cancel_futures=True)


class Pool:
    """Prepares documents here, or in other processes while the caller goes on."""

    def __init__(self, preparer: Preparer, executor: ProcessPoolExecutor | None) -> None:
        self.prepare = preparer.prepare
        self._executor = executor

    def start(self, documents: Sequence[Document]) -> "Future[list[Prepared]]":
        """Begin to prepare documents."""
        future: Future[list[Prepared]] = Future()
        if self._executor is None or not documents:
            future.set_result(self.prepare(documents) if documents else [])
            return future
        try:
            return self._executor.submit(_prepare, documents)
        except BrokenProcessPool as error:  # raised by `finish`, after what was prepared before is stored
            future.set_exception(error)
            return future

    def finish(self, future: "Future[list[Prepared]]") -> list[Prepared]:
        """Wait until they are prepared."""
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise KnowledgeBaseError(
                "a worker process ended before its documents were prepared; what was stored stays"
            ) from error


def ahead(items: Iterable[T], count: int) -> Iterator[T]:
    """The same items, taken from their source `count` earlier than they are handed out.

    >>> list(ahead([1, 2, 3], 2))
    [1, 2, 3]
    """
    waiting: list[T] = []
    for item in items:
        waiting.append(item)
        if len(waiting) > count:
            yield waiting.pop(0)
    yield from waiting


_preparer: Preparer | None = None


def _start(preparer: Preparer) -> None:
    global _preparer  # noqa: PLW0603 - one for each worker process
    _preparer = preparer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, which gets it too, ends its workers
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed ends nothing, and a worker would wait for work without end."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _prepare(documents: Sequence[Document]) -> list[Prepared]:
    assert _preparer  # noqa: S101 - for the type checker
    return _preparer.prepare(documents)


def _terms(name: str, document: Document) -> tuple[bytes, bytes]:
    keys, counts = term_counts(analyzer(name)(document.searchable))
    return keys.tobytes(), counts.tobytes()


@dataclass(frozen=True, slots=True)
class _Batch:
    entries: dict[str, Entry]
    size: int
    pending: list[Entry]
    prepared: "Future[list[Prepared]]"


class Writer:
    """Puts documents into a file, with their terms, vectors and contributions to the graph."""

    def __init__(self, connections: Connections, settings: Settings) -> None:
        self._connections = connections
        self._settings = settings

    def add(
        self,
        documents: Iterable[Document],
        *,
        on_conflict: str,
        batch_size: int,
        workers: int = 1,
        progress: Callable[[int], object] | None = None,
        tenant: Tenant | None = None,
    ) -> Added:
        """Add documents batch by batch, or replace those whose content differs."""
        total, stream = Added(), iter(documents)
        with preparing(Preparer.of(self._connections.path, self._settings), workers) as pool:
            batches = self._batches(stream, on_conflict, batch_size, pool)
            for batch in ahead(batches, 2 * workers) if workers > 1 else batches:
                check_metadata(batch.entries, tenant)
                total += self._store(batch, on_conflict, pool, tenant)
                if progress:
                    progress(batch.size)
        return total

    def replace(self, source: str, documents: Iterable[Document], tenant: Tenant | None = None) -> Added:
        """Make these the documents of a source, in one transaction: what it had besides goes, of a tenant if given."""
        if not isinstance(source, str) or not source:
            raise ValueError(f"source must be a non-empty string, but got {source!r}")
        entries = distinct(replace(document, source=source) for document in documents)
        check_metadata(entries, tenant)

        def remove_others(connection: sqlite3.Connection, known: Mapping[str, Digests]) -> int:
            check_ids(connection, known, tenant)
            record_tenant_fields(connection, tenant)
            return remove(connection, ids_of_source(connection, source, tenant) - entries.keys())

        return self._at_once(entries, remove_others)

    def delete(self, ids: Iterable[str] | None, where: Mapping[str, Any] | None, tenant: Tenant | None) -> int:
        """Remove documents by id or by metadata, of a tenant if given; how many there were."""
        if (ids is None) == (where is None):
            raise ValueError("delete needs either ids or where")
        if where is not None and (not isinstance(where, Mapping) or not where):
            raise ValueError(f"where must name at least one metadata field, but got {where!r}")
        wanted = [] if ids is None else checked_ids(ids)
        with self._connections.writing() as connection:
            gone = wanted if where is None else matching_ids(connection, where)
            return remove(connection, gone if tenant is None else ids_of_tenant(connection, gone, tenant))

    def update(self, documents: Iterable[Document]) -> Added:
        """Replace documents that exist, in one transaction; an unknown id is an error, and nothing is changed."""
        entries = distinct(documents)

        def all_there(connection: sqlite3.Connection, known: Mapping[str, Digests]) -> int:  # noqa: ARG001 - shape
            if missing := sorted(entries.keys() - known.keys()):
                raise KnowledgeBaseError(f"cannot update what is not there: {listed(missing)}")
            return 0

        with self._connections.reading() as connection:  # before anything is prepared, which takes longer
            all_there(connection, digests(connection, entries))
        return self._at_once(entries, all_there)

    def _at_once(
        self, entries: dict[str, Entry], before: Callable[[sqlite3.Connection, Mapping[str, Digests]], int]
    ) -> Added:
        """Write entries in one transaction; `before` is called in it with what is known, and says how many went."""
        preparer = Preparer.of(self._connections.path, self._settings)
        with self._connections.reading() as connection:
            pending = changed(entries, digests(connection, entries), "replace")
        ready = dict(zip((one.document.id for one in pending), _prepared(preparer, pending), strict=True))
        with self._connections.writing() as connection:
            known = digests(connection, entries)
            stored = changed(entries, known, "replace")
            late = [entry for entry in stored if entry.document.id not in ready]  # written by another meanwhile
            ready.update(zip((one.document.id for one in late), _prepared(preparer, late), strict=True))
            gone = before(connection, known)
            write(connection, stored, ready)
        updated = sum(entry.document.id in known for entry in stored)
        return Added(len(stored) - updated, updated, len(entries) - len(stored), gone)

    def _batches(self, stream: Iterator[Document], on_conflict: str, batch_size: int, pool: Pool) -> Iterator[_Batch]:
        seen: dict[str, bytes] = {}
        while documents := list(islice(stream, batch_size)):
            entries = distinct(documents, on_conflict, seen)
            with self._connections.reading() as connection:
                pending = changed(entries, digests(connection, entries), on_conflict)
            yield _Batch(entries, len(documents), pending, pool.start([entry.document for entry in pending]))

    def _store(self, batch: _Batch, on_conflict: str, pool: Pool, tenant: Tenant | None) -> Added:
        ready = dict(zip((entry.document.id for entry in batch.pending), pool.finish(batch.prepared), strict=True))
        if not ready and on_conflict != "replace":
            return Added(unchanged=batch.size)
        with self._connections.reading() as connection:  # again: something may have been written meanwhile
            late = changed(batch.entries, digests(connection, batch.entries), on_conflict)
        late = [entry for entry in late if entry.document.id not in ready]
        ready.update(zip((one.document.id for one in late), pool.prepare([one.document for one in late]), strict=True))
        if not ready:
            return Added(unchanged=batch.size)
        with self._connections.writing() as connection:
            known = digests(connection, batch.entries)  # from here on, nobody else writes
            wanted = changed(batch.entries, known, on_conflict)
            stored = [entry for entry in wanted if entry.document.id in ready]
            check_ids(connection, [key for entry in stored if (key := entry.document.id) in known], tenant)
            record_tenant_fields(connection, tenant)
            write(connection, stored, ready)
        updated = sum(entry.document.id in known for entry in stored)
        return Added(len(stored) - updated, updated, batch.size - len(stored))


def check_writing(on_conflict: str, batch_size: int, workers: int) -> None:
    """Raise unless documents can be added in this way."""
    if on_conflict not in ("replace", "skip", "fail"):
        raise ValueError(f"on_conflict must be replace, skip or fail, but got {on_conflict!r}")
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, but got {batch_size}")
    if workers < 1:
        raise ValueError(f"workers must be at least 1, but got {workers}")


def _prepared(preparer: Preparer, entries: Sequence[Entry]) -> list[Prepared]:
    return preparer.prepare([entry.document for entry in entries]) if entries else []


def write(connection: sqlite3.Connection, entries: Sequence[Entry], prepared: Mapping[str, Prepared]) -> None:
    """Store documents and what was prepared of them, in place of those with the same ids."""
    connection.executemany("DELETE FROM documents WHERE id = ?", [(entry.document.id,) for entry in entries])
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    numbered = list(enumerate(entries, start=(found[0] if found else 0) + 1))
    of = {row: prepared[entry.document.id] for row, entry in numbered}
    _check_dimensions(connection, numbered, of)
    connection.executemany(
        "INSERT INTO documents (row, id, title, text, source, metadata, digest, vector_digest) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [(row, *_columns(entry.document), entry.metadata, *entry.digests) for row, entry in numbered],
    )
    connection.executemany(
        "INSERT INTO terms VALUES (?, ?, ?, ?)",
        [(name, row, keys, counts) for row, one in of.items() for name, keys, counts in one.terms],
    )
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?, ?)",
        [
            vector_columns(row, model, vector.tobytes())
            for row, one in of.items()
            for model, vector in one.vectors.items()
        ],
    )
    ledger.record_encoded(connection, [one.contribution for one in of.values()])


def remove(connection: sqlite3.Connection, ids: Iterable[str]) -> int:
    """Remove documents and all that was derived from them; how many there were."""
    ids = list(ids)
    sources = set(sources_of(connection, ids).values())
    count = sum(
        connection.execute(f"DELETE FROM documents WHERE id IN ({marks})", group).rowcount
        for marks, group in grouped(ids)
    )
    ledger.forget(connection, [*ids, *(IMPORTED + key for key in ids)])
    forget_source_files(connection, sources)
    return count


def record_imported(connection: sqlite3.Connection, contributions: Sequence[Contribution]) -> None:
    """Record what another tool says, beside what documents of the same ids say themselves."""
    speaking = [one.document_id for one in contributions if one.mentions or one.words or one.addresses]
    if taken := sorted(digests(connection, speaking)):
        raise KnowledgeBaseError(
            "cannot contribute mentions, words or addresses under the id of a document, which has its own: "
            f"{listed(taken)}; state nodes and edges instead"
        )
    ledger.record(connection, map(as_imported, contributions))


def ids_of_source(connection: sqlite3.Connection, source: str, tenant: Tenant | None = None) -> set[str]:
    """The documents of a source, or those of them that are a tenant's."""
    condition, values = tenant_condition(tenant or {})
    # the second condition lets SQLite use the index, which leaves out documents without a source
    query = f"SELECT id FROM documents WHERE source = ? AND source <> '' AND {condition}"
    return {key for (key,) in connection.execute(query, [source, *values])}


def ids_of_tenant(connection: sqlite3.Connection, ids: Iterable[str], tenant: Tenant) -> set[str]:
    """Of documents with these ids, those that are a tenant's."""
    condition, values = tenant_condition(tenant)
    found: set[str] = set()
    for marks, group in grouped(list(ids)):
        query = f"SELECT id FROM documents WHERE id IN ({marks}) AND {condition}"
        found.update(key for (key,) in connection.execute(query, [*group, *values]))
    return found


def check_metadata(entries: Mapping[str, Entry], tenant: Tenant | None) -> None:
    """Raise if a document does not say that it is the tenant's."""
    for key, entry in entries.items():
        if not in_tenant(entry.document.metadata, tenant):
            raise _other_tenant(key)


def check_ids(connection: sqlite3.Connection, known: Iterable[str], tenant: Tenant | None) -> None:
    """Raise if one of these documents, which are there, is not the tenant's."""
    if tenant is not None and (others := set(known) - ids_of_tenant(connection, known, tenant)):
        raise _other_tenant(min(others))


def _other_tenant(key: str) -> OtherTenant:
    # the same for both, so that a tenant is not told plainly which ids others have
    return OtherTenant(
        f"document {key!r} cannot be written for this tenant: its metadata must say that it is the tenant's, and no "
        "other tenant's document may have its id"
    )


def _columns(document: Document) -> tuple[str, str, str, str]:
    return document.id, document.indexed_heading, document.text, document.source


def _check_dimensions(
    connection: sqlite3.Connection, numbered: Sequence[tuple[int, Entry]], of: Mapping[int, Prepared]
) -> None:
    dimensions: dict[str, int] = {}
    for row, entry in numbered:
        for model, vector in of[row].vectors.items():
            if model not in dimensions:
                found = connection.execute(
                    "SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1", (model,)
                ).fetchone()
                dimensions[model] = found[0] // 4 if found else len(vector)
            if len(vector) != dimensions[model]:
                raise KnowledgeBaseError(
                    f"document {entry.document.id!r}: its vector has {len(vector)} numbers, but those of model "
                    f"{model!r} have {dimensions[model]}"
                )
