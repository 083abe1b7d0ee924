"""The graph of documents that live in a store of the user's: what any graph store does, and the one in a file."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from hopweave.document import Document, checked_documents, checked_ids
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.resolve import Resolved
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.graph.port import GraphPort
from hopweave.graph.storage import ledger
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph_store.urls import is_url, store_for
from hopweave.graph_store.written import STAGED_AT_ONCE, Written, batches, encoded, in_processes, prepared
from hopweave.knowledge_base.conditions import matching_ids
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.documents import Added, Entry, digests
from hopweave.knowledge_base.settings import DEFAULT_BUILDERS, Settings
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.knowledge_base.writer import Prepared, ids_of_source, remove, write
from hopweave.metadata.tenants import checked_tenant

_BUSY_SECONDS = 30.0


class GraphStore(ABC):
    """A graph without the texts and vectors of its documents, which many processes may write and read.

    Two homes hold the same graph: an SQLite file (by path), and PostgreSQL (by URL, `pip install hopweave-postgres`).
    Every write is one transaction: a document is in the graph wholly or not at all. Writing a document again that has
    not changed does nothing. Another home is a subclass that an entry point of the group `hopweave.graph_stores` names
    by the scheme of its URLs; `hopweave.testing` has the tests that it must pass.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, GraphStore.open(f"{folder}/graph.db") as store:
    ...     store.add([Document("ship", "MV Skua sails to Harris.", {"title": "MV Skua"})])
    ...     sorted(store.graph.lookup(["mv skua", "harris"]))
    Added(added=1, updated=0, unchanged=0)
    ['harris', 'mv skua']
    """

    builders: tuple[GraphBuilder, ...] = DEFAULT_BUILDERS

    @staticmethod
    def open(
        where: str | Path,
        *,
        schema: str = "hopweave",
        builders: Sequence[GraphBuilder] | None = None,
        read_only: bool = False,
        pool_size: int = 8,
        statement_seconds: float = 2.0,
        connect_seconds: float = 10.0,
        max_edges: int = 20_000,
    ) -> "GraphStore":
        """Open the graph in a file or on a server, or create it.

        `builders` say how documents are connected (by mentions, links and parts); they are settled when the graph is
        new. The others are for a server: `schema` is where its tables lie, `pool_size` the most connections at once,
        `statement_seconds` the time after which a walk answers with the best so far, `connect_seconds` how long to wait
        for a connection, `max_edges` the most edges of one node that a walk follows.
        """
        if is_url(where):
            store: GraphStore = store_for(str(where))(
                str(where),
                schema=schema,
                builders=builders,
                read_only=read_only,
                pool_size=pool_size,
                statement_seconds=statement_seconds,
                connect_seconds=connect_seconds,
                max_edges=max_edges,
            )
            return store
        return SqliteStore(Path(where), builders=builders, read_only=read_only)

    # Writing

    def add(self, documents: Iterable[Document], *, batch_size: int = 256) -> Added:
        """Add what documents say to the graph, in place of what they contributed before; one transaction per batch.

        Of documents with the same id, the last counts: which of them is kept, the store of their texts decides.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but got {batch_size}")
        total = Added()
        for batch in batches(checked_documents(documents), batch_size):
            total += self.write(self.prepared(batch))
        return total

    def build(self, documents: Iterable[Document], *, workers: int = 1) -> Added:
        """Add many documents at once, which worker processes prepare; the graph is the same as with `add`."""
        total = Added()
        staged = batches(checked_documents(documents), STAGED_AT_ONCE)
        for written in in_processes(partial(prepared, self.builders), staged, workers):
            total += self.write(written)
        return total

    def replace(self, source: str, documents: Iterable[Document]) -> Added:
        """Make these the documents of a source, such as a file; what it had besides goes, in one transaction."""
        if not isinstance(source, str) or not source:
            raise ValueError(f"source must be a non-empty string, but got {source!r}")
        renamed = [replace(document, source=source) for document in checked_documents(documents)]
        return self.write(self.prepared(renamed), source=source)

    def contribute(self, contributions: Iterable[Contribution], *, batch_size: int = 256) -> Added:
        """Record contributions as they are, without metadata; `delete` their ids to take them back."""
        total = Added()
        for batch in batches(contributions, batch_size):
            total += self.write([Written(one) for one in batch])
        return total

    def prepared(self, documents: Sequence[Document]) -> list[Written]:
        """What is kept of documents, which any process can prepare."""
        return prepared(self.builders, documents)

    def delete(
        self, ids: Iterable[str] | None = None, *, source: str | None = None, where: Mapping[str, Any] | None = None
    ) -> int:
        """Take documents out of the graph, by id, by source or by metadata values; how many there were."""
        if (ids is not None) + (source is not None) + (where is not None) != 1:
            raise ValueError("delete needs one of ids, source and where")
        if where is not None and (not isinstance(where, Mapping) or not where):
            raise ValueError(f"where must name at least one metadata field, but got {where!r}")
        if source is not None and not isinstance(source, str):
            raise TypeError(f"source: must be a string, but got {source!r}")
        if ids is not None:
            return self.write([], gone=list(dict.fromkeys(checked_ids(ids)))).removed
        return self._delete_matching({} if where is None else where, source)

    @abstractmethod
    def write(self, documents: Sequence[Written], *, gone: Collection[str] = (), source: str | None = None) -> Added:
        """Put documents into the graph and take others out, in one transaction.

        With `source`, all other documents of that source go as well.
        """

    @abstractmethod
    def _delete_matching(self, where: Mapping[str, Any], source: str | None) -> int: ...

    # Reading

    @property
    @abstractmethod
    def graph(self) -> GraphPort:
        """The graph as it is now; ask for it again for every question."""

    @property
    @abstractmethod
    def version(self) -> int:
        """Grows with every write."""

    @abstractmethod
    def count(self) -> int:
        """How many documents there are."""

    @abstractmethod
    def ids(self) -> list[str]:
        """The ids of all documents, in order."""

    @abstractmethod
    def sources(self) -> list[str]:
        """The sources that documents come from, in order."""

    @abstractmethod
    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""

    @abstractmethod
    def nodes(self) -> tuple[Node, ...]:
        """All nodes, ordered by id."""

    @abstractmethod
    def edges(self) -> list[Edge]:
        """All edges by source, target and type, each of these once, with the weights summed."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the file or of the connections."""

    def __enter__(self) -> "GraphStore":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
