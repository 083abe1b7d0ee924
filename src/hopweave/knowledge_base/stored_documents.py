"""The documents of a file as they are stored: read by id, by tenant, by source."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hopweave.document import Document, checked_ids
from hopweave.hit import Hit, Vector
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.entry import read_document, read_vector, stored_documents
from hopweave.knowledge_base.file.source_files import SourceFile, read_source_files, sources_of
from hopweave.knowledge_base.indexes.metadata_filter_sql import matching_ids
from hopweave.knowledge_base.indexes.snapshot import Snapshot, Tenant, tenant_condition
from hopweave.knowledge_base.settings import Settings
from hopweave.metadata.tenants import checked_tenant


class StoredDocuments:
    """Reads documents, without any index."""

    settings: Settings
    _connections: Connections
    _snapshot: Snapshot

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
        return frozenset(self._snapshot.visible(tenant, checked_ids(ids)))

    def _condition(self, tenant: Tenant | None) -> tuple[str, Sequence[Any]]:
        checked_tenant(tenant)  # an empty one would see everything
        return tenant_condition(tenant or {})
