"""Documents as they are stored: checked and digested when they are written, read by id, by tenant and by source.

Sources and ids are relative, so that they stay the same when a folder moves. The table of source files tells two files
of one name apart. It is made when first needed: knowledge bases that programs fill do not have it.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np

from hopweave.document import Document, checked_ids, indexed_heading
from hopweave.errors import AlreadyThere, KnowledgeBaseError
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Unseen
from hopweave.knowledge_base.conditions import Tenant, matching_ids, tenant_condition
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.schema import digest_of
from hopweave.knowledge_base.settings import Settings
from hopweave.metadata.tenants import checked_tenant

Digests = tuple[bytes, bytes]

_MAX_DEPTH = 64  # of metadata; what reads it back is recursive
_CONTAINERS = (Mapping, list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the documents handed in; `removed` are those that their source no longer has."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = field(default=0, repr=False)

    @property
    def changes(self) -> int:
        """How many documents were added, updated or removed."""
        return self.added + self.updated + self.removed

    def __add__(self, other: "Added") -> "Added":
        return Added(*(one + two for one, two in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its metadata as JSON and digests that show whether it has changed."""

    document: Document
    metadata: str
    digest: bytes
    vector_digest: bytes

    @classmethod
    def of(cls, document: Document) -> "Entry":
        """Check a document and prepare it for storing.

        >>> Entry.of(Document("a", "text", {"tags": {"x", "b"}})).metadata
        '{"tags": ["b", "x"]}'
        """
        if not isinstance(document.id, str) or not document.id:
            raise KnowledgeBaseError(f"a document's id must be a non-empty string, but got {document.id!r}")
        if not isinstance(document.text, str):
            raise KnowledgeBaseError(f"document {document.id!r}: its text must be a string, but got {document.text!r}")
        for name, value in (("source", document.source), ("heading", document.heading)):
            if not isinstance(value, str):
                raise KnowledgeBaseError(f"document {document.id!r}: its {name} must be a string, but got {value!r}")
        if not isinstance(document.metadata, Mapping):
            raise KnowledgeBaseError(
                f"document {document.id!r} cannot be stored: its metadata must be a mapping, "
                f"but got {document.metadata!r}"
            )
        try:
            _check_depth(document.metadata)
            metadata = json.dumps(
                dict(document.metadata), ensure_ascii=False, allow_nan=False, sort_keys=True, default=_plain
            )
            heading = heading_of(document.indexed_heading, document.metadata)
            digest, _ = content_digest(document.text, metadata, document.source, heading), document.id.encode()
            vector = None if document.vector is None else np.asarray(document.vector, np.float32)
        except UnicodeEncodeError as error:
            raise KnowledgeBaseError(f"document {document.id!r} cannot be stored: it is not valid Unicode") from error
        except (TypeError, ValueError, RecursionError) as error:
            raise KnowledgeBaseError(f"document {document.id!r} cannot be stored: {error}") from error
        if vector is not None and (vector.ndim != 1 or not vector.size or not np.isfinite(vector).all()):
            raise KnowledgeBaseError(
                f"document {document.id!r}: its vector must be a row of finite numbers, but has shape {vector.shape}"
            )
        return cls(document, metadata, digest, b"" if vector is None else digest_of(vector.tobytes()))

    @property
    def digests(self) -> tuple[bytes, bytes]:
        """Equal for documents that are the same."""
        return self.digest, self.vector_digest


def content_digest(text: str, metadata: str, source: str, heading: str = "") -> bytes:
    """The digest of a stored document; a source or heading that it does not have counts nothing.

    >>> content_digest("text", "{}", "") == digest_of("text", "{}")
    True
    """
    if heading:
        return digest_of(text, metadata, source, heading)
    return digest_of(text, metadata, source) if source else digest_of(text, metadata)


def heading_of(stored: str, metadata: Mapping[str, Any]) -> str:
    """The heading that a document was given, from what is stored before its text: nothing if that is its title.

    >>> heading_of("MV Skua", {"title": "MV Skua"}), heading_of("title: MV Skua", {"title": "MV Skua"})
    ('', 'title: MV Skua')
    """
    return "" if stored == indexed_heading("", metadata) else stored


def stored_documents(connection: sqlite3.Connection, ids: Iterable[str] | None = None) -> list[Document]:
    """All documents, or those with these ids, in the order in which they were added."""
    found = {}
    groups = [("", [])] if ids is None else [(f"WHERE id IN ({marks})", group) for marks, group in grouped(ids)]
    for condition, values in groups:
        query = f"SELECT row, id, title, text, metadata, source FROM documents {condition} ORDER BY row"
        for row, key, heading, stored_text, stored_metadata, source in connection.execute(query, values):
            text, metadata = read_document(key, stored_text, stored_metadata)
            found[row] = Document(key, text, metadata, source=source, heading=heading_of(heading, metadata))
    return [found[row] for row in sorted(found)]


def _check_depth(metadata: Mapping[str, Any]) -> None:
    level, depth = [value for value in metadata.values() if isinstance(value, _CONTAINERS)], 1
    while level:
        depth += 1
        if depth > _MAX_DEPTH:
            raise ValueError(f"its metadata is nested deeper than {_MAX_DEPTH} levels")
        inner = (one.values() if isinstance(one, Mapping) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, _CONTAINERS)]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"metadata of type {type(value).__name__} is not JSON")


def distinct(
    documents: Iterable[Document], on_conflict: str = "replace", seen: dict[str, bytes] | None = None
) -> dict[str, Entry]:
    """Entries by id. One that comes twice with different content is an error, unless the later ones are to be skipped.

    `seen` are the ids of earlier batches of the same call, with their digests; those of this one are added.

    >>> list(distinct([Document("a", "one"), Document("a", "one"), Document("b", "two")]))
    ['a', 'b']
    """
    seen = {} if seen is None else seen
    found: dict[str, Entry] = {}
    for entry in map(Entry.of, documents):
        key = entry.document.id
        if key in found and on_conflict == "fail":
            raise AlreadyThere(f"comes twice: {key!r}")
        if on_conflict == "replace" and seen.setdefault(key, entry.digest) != entry.digest:
            raise KnowledgeBaseError(
                f"documents: id {key!r} comes twice with different content, and one would replace the other"
            )
        if key not in found or on_conflict == "replace":
            found[key] = entry
    return found


def changed(entries: Mapping[str, Entry], known: Mapping[str, Digests], on_conflict: str) -> list[Entry]:
    """What has to be written, given what is known of the ids."""
    if on_conflict == "fail" and known:
        raise AlreadyThere(f"already there: {listed(sorted(known))}")
    return [
        entry
        for key, entry in entries.items()
        if key not in known or (on_conflict == "replace" and known[key] != entry.digests)
    ]


def digests(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, Digests]:
    """The digests of the stored documents with these ids."""
    found: dict[str, Digests] = {}
    for marks, group in grouped(ids):
        query = f"SELECT id, digest, vector_digest FROM documents WHERE id IN ({marks})"
        found.update({key: (content, vector) for key, content, vector in connection.execute(query, group)})
    return found


def listed(ids: Sequence[str]) -> str:
    """The first few ids and how many more there are.

    >>> listed(list("abcdefg"))
    "'a', 'b', 'c', 'd', 'e' and 2 more"
    """
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return ", ".join(repr(key) for key in ids[:5]) + more


def read_document(key: str, text: Any, metadata: Any) -> tuple[str, dict[str, Any]]:
    """Text and metadata of a stored document; an error names the document if they are not what was written.

    >>> read_document("a", "A ferry.", '{"year": 1974}')
    ('A ferry.', {'year': 1974})
    """
    try:
        values = _loaded(metadata)
    except (ValueError, TypeError, RecursionError) as error:
        raise KnowledgeBaseError(f"document {key!r} is damaged: {error}; hopweave check lists all damage") from error
    if not isinstance(text, str) or not isinstance(values, dict):
        raise KnowledgeBaseError(f"document {key!r} is damaged; hopweave check lists all damage")
    return text, values


def _loaded(text: Any) -> Any:
    """What `json.loads` returns; text without spaces around it, as it is written here, is decoded at once."""
    if isinstance(text, str) and text.startswith("{") and text.endswith("}"):
        values, end = _decode(text)
        if end == len(text):
            return values
    return json.loads(text)


_decode = json.JSONDecoder().raw_decode


def read_vector(key: str, vector: Any) -> Vector:
    """A stored vector; an error names its document if it is not what was written.

    >>> read_vector("a", bytes(8)).tolist()
    [0.0, 0.0]
    """
    if not isinstance(vector, bytes) or not vector or len(vector) % 4:
        raise KnowledgeBaseError(f"the vector of document {key!r} is damaged; hopweave check lists all damage")
    return np.frombuffer(vector, np.float32)


_TABLE = """
CREATE TABLE IF NOT EXISTS source_files (source TEXT PRIMARY KEY, file TEXT NOT NULL, folder TEXT NOT NULL)
WITHOUT ROWID
"""
# the second condition lets SQLite use the index, which leaves out documents without a source
_UNUSED = "NOT EXISTS (SELECT 1 FROM documents WHERE documents.source = source_files.source AND documents.source <> '')"


class SourceFile(NamedTuple):
    """The file of a source, and the folder that its name is relative to, if any, as absolute paths."""

    file: str
    folder: str = ""


def read_source_files(connection: sqlite3.Connection) -> dict[str, SourceFile]:
    """The file of each source that has documents, as far as it was noted."""
    if not _exists(connection):
        return {}
    rows = connection.execute(f"SELECT source, file, folder FROM source_files WHERE NOT {_UNUSED}")
    return {str(source): SourceFile(os.fsdecode(file), os.fsdecode(folder)) for source, file, folder in rows}


def write_source_files(connection: sqlite3.Connection, files: Mapping[str, SourceFile]) -> None:
    """Note files in place of what was noted of these sources, and forget those that have no documents any more."""
    connection.execute(_TABLE)
    connection.execute(f"DELETE FROM source_files WHERE {_UNUSED}")
    connection.executemany(
        "INSERT OR REPLACE INTO source_files VALUES (?, ?, ?)",
        [(source, *map(_path, one)) for source, one in files.items() if isinstance(_path(source), str)],
    )


def forget_source_files(connection: sqlite3.Connection, sources: Iterable[str]) -> None:
    """Forget the files of those among these sources that have no documents any more."""
    if _exists(connection):
        connection.executemany(
            f"DELETE FROM source_files WHERE source = ? AND {_UNUSED}",
            [(source,) for source in sources],
        )


def sources_of(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """The source of each of these documents, as far as they are there, in the order given."""
    ids, found = list(ids), dict[str, str]()
    for marks, group in grouped(ids):
        found.update(connection.execute(f"SELECT id, source FROM documents WHERE id IN ({marks})", group).fetchall())
    return {key: found[key] for key in ids if key in found}


def _path(text: str) -> str | bytes:
    """A path as it is stored: as bytes if it is not Unicode, as no source can be that has documents."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def _exists(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'source_files'")
    return found.fetchone() is not None


class StoredDocuments:
    """Reads documents, without any index."""

    settings: Settings
    _connections: Connections

    def count(self, *, tenant: Tenant | None = None) -> int:
        """How many documents there are."""
        condition, values = self._condition(tenant)
        with self._connections.reading() as connection:
            return int(connection.execute(f"SELECT count(*) FROM documents WHERE {condition}", values).fetchone()[0])

    def get(self, ids: Iterable[str], *, tenant: Tenant | None = None) -> dict[str, Hit]:
        """The documents with these ids as hits without a score, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(checked_ids(ids)))
        condition, values = self._condition(tenant)
        found: dict[str, Hit] = {}
        with self._connections.reading() as connection:
            for marks, group in grouped(wanted):
                query = f"SELECT id, text, metadata FROM documents WHERE id IN ({marks}) AND {condition}"
                for key, *stored in connection.execute(query, [*group, *values]):
                    text, metadata = read_document(key, *stored)
                    found[key] = Hit(key, text=text, metadata=metadata)
        return {key: found[key] for key in wanted if key in found}

    def ids(self, *, tenant: Tenant | None = None, where: Mapping[str, Any] | None = None) -> list[str]:
        """The ids of all documents, or of those of a tenant, in the order in which they were added.

        With `where`, a filter on metadata as in a query, only those that pass it.
        """
        condition, values = self._condition(tenant)
        with self._connections.reading() as connection:
            rows = connection.execute(f"SELECT id FROM documents WHERE {condition} ORDER BY row", values)
            found = [key for (key,) in rows]
            passing = None if where is None else set(matching_ids(connection, where))
        return [key for key in found if passing is None or key in passing]

    def documents(self, ids: Iterable[str] | None = None) -> Iterator[Document]:
        """All documents, or those with these ids, in the order in which they were added."""
        ids = None if ids is None else checked_ids(ids)
        with self._connections.reading() as connection:
            return iter(stored_documents(connection, ids))

    def unseen(self, hits: Sequence[Hit]) -> Unseen:
        """Which of these hits are not among the documents, or have another text there."""
        texts: dict[str, str] = {}
        with self._connections.reading() as connection:
            for marks, group in grouped([hit.id for hit in hits]):
                texts.update(connection.execute(f"SELECT id, text FROM documents WHERE id IN ({marks})", group))
        unknown = frozenset(hit.id for hit in hits if hit.id not in texts)
        changed = frozenset(hit.id for hit in hits if hit.text and hit.text != texts.get(hit.id, hit.text))
        return Unseen(unknown, changed)

    def vectors(self, ids: Iterable[str], *, model: str | None = None) -> dict[str, Vector]:
        """The stored vectors of these documents, of a model, or of the file's own, as far as there are any."""
        found: dict[str, Vector] = {}
        with self._connections.reading() as connection:
            for marks, group in grouped(checked_ids(ids)):
                query = f"SELECT id, vector FROM documents JOIN vectors USING (row) WHERE model = ? AND id IN ({marks})"
                for key, vector in connection.execute(query, [model or self.settings.model, *group]):
                    found[key] = read_vector(key, vector)
        return found

    def sources(self, *, tenant: Tenant | None = None) -> dict[str, int]:
        """How many documents each source has; documents without one are not counted."""
        condition, values = self._condition(tenant)
        with self._connections.reading() as connection:
            query = f"SELECT source, count(*) FROM documents WHERE source <> '' AND {condition} GROUP BY 1 ORDER BY 1"
            return dict(connection.execute(query, values).fetchall())

    def sources_of(self, ids: Iterable[str]) -> dict[str, str]:
        """The source of each of these documents, as far as they are there; an empty one if it has none."""
        with self._connections.reading() as connection:
            return sources_of(connection, checked_ids(ids))

    def source_files(self) -> dict[str, SourceFile]:
        """The file of each source, as far as `record_source_files` was told, as `hopweave index` does."""
        with self._connections.reading() as connection:
            return read_source_files(connection)

    def visible(self, tenant: Tenant, ids: Iterable[str] | None = None) -> frozenset[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""
        if ids is None:
            return frozenset(self.ids(tenant=tenant or None))
        condition, values = tenant_condition(tenant)
        found: set[str] = set()
        with self._connections.reading() as connection:
            for marks, group in grouped(checked_ids(ids)):
                query = f"SELECT id FROM documents WHERE id IN ({marks}) AND {condition}"
                found.update(key for (key,) in connection.execute(query, [*group, *values]))
        return frozenset(found)

    def _condition(self, tenant: Tenant | None) -> tuple[str, Sequence[Any]]:
        checked_tenant(tenant)  # an empty one would see everything
        return tenant_condition(tenant or {})
