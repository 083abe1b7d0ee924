"""A graph in an SQLite file: a knowledge base whose documents have no text."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hopweave.document import Document
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.resolve import Resolved
from hopweave.graph.model import Edge, Node
from hopweave.graph.storage import ledger
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph_store.store import GraphStore, Written, encoded
from hopweave.knowledge_base.conditions import matching_ids
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.documents import Added, Entry, digests
from hopweave.knowledge_base.settings import Settings
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.knowledge_base.writer import Prepared, ids_of_source, remove, write
from hopweave.metadata.tenants import checked_tenant

_BUSY_SECONDS = 30.0


class SqliteStore(GraphStore):
    """A graph in one file, with its index images beside it. One process writes at a time, any number read."""

    def __init__(self, path: Path, *, builders: Sequence[GraphBuilder] | None, read_only: bool) -> None:
        self._connections = Connections(path, busy_seconds=_BUSY_SECONDS, read_only=read_only)
        try:
            settings = Settings.of(self._connections, None, (), builders, holds="graph")
        except BaseException:
            self._connections.close()
            raise
        self.path, self.builders = path, settings.builders
        self._base = KnowledgeBase(self._connections, settings, approximate_above=100_000)

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    def write(self, documents: Sequence[Written], *, gone: Collection[str] = (), source: str | None = None) -> Added:
        """Put documents into the graph and take others out, in one transaction."""
        ready = {one.document_id: (Entry.of(_bare(written)), one) for written, one in encoded(documents)}
        with self._connections.reading() as connection:
            if not any(_outstanding(connection, ready, gone, source)):
                return Added(unchanged=len(ready))
        with self._connections.writing() as connection:
            stored, going = _outstanding(connection, ready, gone, source)
            known = digests(connection, stored)
            removed = remove(connection, going)
            prepared = {key: Prepared((), {}, ready[key][1]) for key in stored}
            write(connection, [ready[key][0] for key in stored], prepared)
        self._base.compact_in_background()
        return Added(len(stored) - len(known), len(known), len(ready) - len(stored), removed)

    def _delete_matching(self, where: Mapping[str, Any], source: str | None) -> int:
        with self._connections.writing() as connection:
            found = ids_of_source(connection, source) if source is not None else matching_ids(connection, where)
            count = remove(connection, sorted(found))
        if count:
            self._base.compact_in_background()
        return count

    @property
    def graph(self) -> TableGraph:
        """The graph as it is now."""
        return self._base.graph

    @property
    def version(self) -> int:
        """Grows with every write."""
        return self._base.version

    def count(self) -> int:
        """How many documents there are."""
        return self._base.count()

    def ids(self) -> list[str]:
        """The ids of all documents, in order."""
        return sorted(self._base.ids())

    def sources(self) -> list[str]:
        """The sources that documents come from, in order."""
        return sorted(source for source in self._base.sources() if source)

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""
        checked_tenant(tenant or None)
        return self._base.visible(tenant, ids)

    def nodes(self) -> tuple[Node, ...]:
        """All nodes, ordered by id."""
        return Resolved(self.graph.tables).nodes

    def edges(self) -> list[Edge]:
        """All edges by source, target and type, each of these once, with the weights summed."""
        return Resolved(self.graph.tables).edges()

    def check(self) -> list[str]:
        """Everything that is wrong with the file, in words."""
        return self._base.check()

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()


def _bare(written: Written) -> Document:
    return Document(written.contribution.document_id, "", written.metadata, source=written.source)


def _outstanding(
    connection: sqlite3.Connection,
    ready: Mapping[str, tuple[Entry, ledger.Encoded]],
    gone: Collection[str],
    source: str | None,
) -> tuple[list[str], list[str]]:
    """The documents that differ from what is stored, and those that are there and have to go."""
    known, contributions = digests(connection, [*ready, *gone]), _ledger_digests(connection, ready)
    stored = [
        key
        for key, (entry, one) in ready.items()
        if known.get(key) != entry.digests or contributions.get(key) != (one.digest if one.payload else None)
    ]
    of_source = ids_of_source(connection, source) if source is not None else set()
    return stored, sorted((known.keys() | of_source) - ready.keys())


def _ledger_digests(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, bytes | None]:
    found: dict[str, bytes | None] = {}
    for marks, group in grouped(ids):
        query = f"SELECT document_id, digest FROM graph_contributions WHERE document_id IN ({marks})"
        found.update(connection.execute(query, group).fetchall())
    return found
