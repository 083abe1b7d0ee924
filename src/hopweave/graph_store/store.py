"""The graph of documents that live in a store of the user's: opened by the path of a file or by the URL of a server."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from hopweave.component import registered
from hopweave.concurrency.once import once
from hopweave.document import Document, checked_documents, checked_ids
from hopweave.errors import HopweaveError, KnowledgeBaseError
from hopweave.graph.build.builders.builder import GraphBuilder, contribute_all, warn_of_older_rules
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.graph.port import GraphPort
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.documents import Added, Entry
from hopweave.knowledge_base.settings import DEFAULT_BUILDERS
from hopweave.metadata.tenants import MAX_TENANT_CHARACTERS

T = TypeVar("T")
R = TypeVar("R")

STAGED_AT_ONCE = 2_000
"""Documents that a worker prepares at once."""

ENTRY_POINTS = "hopweave.graph_stores"
"""The entry point group in which a distribution names its graph store, by the scheme of its URLs."""

DISTRIBUTIONS = {"postgresql": "hopweave-postgres", "postgres": "hopweave-postgres"}
"""What to install for the URLs of a scheme."""


class Written(NamedTuple):
    """What is kept of a document: its contribution, the source it belongs to, and metadata that tenants go by."""

    contribution: Contribution
    source: str = ""
    metadata: Mapping[str, Any] = {}


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
            return _store_for(str(where))(
                str(where),
                schema=schema,
                builders=builders,
                read_only=read_only,
                pool_size=pool_size,
                statement_seconds=statement_seconds,
                connect_seconds=connect_seconds,
                max_edges=max_edges,
            )
        from hopweave.graph_store.sqlite_store import SqliteStore

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


def prepared(builders: Sequence[GraphBuilder], documents: Sequence[Document]) -> list[Written]:
    """What is kept of documents, in a process of its own."""
    for document in documents:
        Entry.of(document)  # raises if it cannot be stored
    contributions = contribute_all(builders, documents)
    return [
        Written(one, document.source, kept_metadata(document.metadata))
        for one, document in zip(contributions, documents, strict=True)
    ]


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of this many.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def in_processes(work: Callable[[T], R], items: Iterable[T], workers: int) -> Iterator[R]:
    """What `work` returns for each item, in worker processes a few items ahead; with one worker, in this process."""
    if workers < 1:
        raise ValueError(f"workers: {workers} is not allowed; it must be at least 1")
    if workers == 1:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as executor:
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(executor.submit(work, item))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def is_url(where: object) -> bool:
    """Whether a graph lives on a server: at a URL of a scheme that a graph store is known for.

    >>> is_url("postgresql://localhost/kb"), is_url("graph.db")
    (True, False)
    """
    scheme, separator, _ = str(where).partition("://")
    return bool(separator) and scheme in schemes()


def schemes() -> list[str]:
    """The URL schemes of graph stores: those of `hopweave-postgres`, and those of other installed distributions."""
    return [*DISTRIBUTIONS, *sorted(_installed().keys() - DISTRIBUTIONS.keys())]


@once()
def _installed() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=ENTRY_POINTS)}


def _store_for(url: str) -> "Callable[..., GraphStore]":
    """The class that opens a URL."""
    scheme = url.partition("://")[0]
    if scheme not in _installed():
        raise HopweaveError(
            f"where: no graph store for {scheme}:// is installed; run: pip install {DISTRIBUTIONS[scheme]}"
        )
    return cast("Callable[..., GraphStore]", _installed()[scheme].load())


def stored_builders(
    where: object, stored: Sequence[Mapping[str, Any]], wanted: Sequence[GraphBuilder] | None
) -> tuple[GraphBuilder, ...]:
    """The builders that a graph was begun with, from their dumps; an error if others are `wanted`."""
    import hopweave.catalogue  # noqa: F401 - so that every kind is known

    kinds = registered(GraphBuilder)
    try:
        made = tuple(cast(GraphBuilder, kinds[one["kind"]].model_validate(one)) for one in stored)
    except KeyError as error:
        raise KnowledgeBaseError(f"{where}: was made with {error}, which is not installed") from error
    if wanted is not None and tuple(wanted) != made:
        raise KnowledgeBaseError(
            f"{where}: its graph is built by {', '.join(one.kind for one in made) or 'nothing'}; "
            "open it without naming builders, or use another schema"
        )
    warn_of_older_rules(where, made, stored)
    return made


def has_password(url: str) -> bool:
    """Whether a connection URL holds a password.

    >>> has_password("postgresql://anna:secret@db/kb"), has_password("postgresql://anna@db/kb")
    (True, False)
    """
    parts = urlsplit(url)
    return bool(parts.password) or "password=" in parts.query


def kept_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that tenants may go by: short texts, numbers, truth values, and lists of these.

    >>> kept_metadata({"customer": ["acme"], "page": 3, "triples": [("a", "b", "c")], "text": "x" * 5000})
    {'customer': ['acme'], 'page': 3}
    """
    plain = json.loads(Entry.of(Document("-", "", metadata)).metadata)
    return {name: value for name, value in plain.items() if all(map(_is_short, _values(value)))}


def encoded(documents: Sequence[Written]) -> Iterator[tuple[Written, ledger.Encoded]]:
    """Documents with their contributions as they are stored."""
    for one in documents:
        yield one, ledger.encoded(one.contribution)


def _values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is_short(value: Any) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= MAX_TENANT_CHARACTERS)
