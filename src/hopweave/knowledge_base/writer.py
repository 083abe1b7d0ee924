"""Writing documents: everything about a batch of them is prepared first and then stored in one transaction."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from hopweave.document import Document, checked_ids
from hopweave.errors import KnowledgeBaseError, OtherTenant
from hopweave.graph.model import IMPORTED, Contribution, as_imported
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.entry import Added, Digests, Entry, changed, digests, distinct, listed
from hopweave.knowledge_base.file.digest import vector_columns
from hopweave.knowledge_base.file.source_files import forget_source_files, sources_of
from hopweave.knowledge_base.file.stored_settings import record_tenant_fields
from hopweave.knowledge_base.indexes.metadata_filter_sql import matching_ids
from hopweave.knowledge_base.indexes.snapshot import Tenant, tenant_condition
from hopweave.knowledge_base.prepare import Pool, Prepared, Preparer, ahead, preparing
from hopweave.knowledge_base.settings import Settings
from hopweave.metadata.filters import in_tenant


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
