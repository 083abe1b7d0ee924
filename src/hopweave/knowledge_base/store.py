"""The knowledge base: one SQLite file with documents, their words, vectors and graph."""

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import finalize

import numpy as np

from hopweave.document import Document, checked_ids
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.communities import communities
from hopweave.graph.documents import passage_numbers
from hopweave.graph.model import Contribution
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.hit import Vector
from hopweave.knowledge import Capability, Within
from hopweave.knowledge_base.check import image_notes, image_problems, problems
from hopweave.knowledge_base.compaction import Compaction
from hopweave.knowledge_base.conditions import Tenant, stored_tenant_fields
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.documents import Added, SourceFile, StoredDocuments, write_source_files
from hopweave.knowledge_base.embed_again import embed_again, embed_anew, vectors_to_repair
from hopweave.knowledge_base.images import ImageFolder
from hopweave.knowledge_base.rankings import QuestionVectors, SmoothedVectors, SnapshotRankings
from hopweave.knowledge_base.restore import put_in_place, sound_copy
from hopweave.knowledge_base.settings import UNSET, Settings, of_one_model, write_settings
from hopweave.knowledge_base.snapshot import Snapshot, version_of
from hopweave.knowledge_base.writer import Writer, check_writing, ids_of_source, record_imported, remove
from hopweave.metadata.filters import Filters
from hopweave.metadata.tenants import checked_tenant, in_context, require_tenant
from hopweave.query import Query
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.vector.graph_embedder import GraphEmbedder

if TYPE_CHECKING:
    from hopweave.pipeline import Result
    from hopweave.recipe import Recipe


class TemporaryFolder:
    """Removed by `cleanup`, or when nobody refers to it any more, though not by a forked child of the process.

    >>> folder = TemporaryFolder()
    >>> folder.cleanup()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hopweave-"))
        self.cleanup = finalize(self, _remove, self.path, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def facts(path: Path, settings: Settings, graph: TableGraph) -> dict[str, Any]:
    """The size of the graph, the settings, and the bytes of the file, its log and its images."""
    parts = [path, Path(f"{path}-wal"), *sorted(ImageFolder(path).folder.glob("*.image"))]
    return {
        "nodes": graph.node_count,
        "edges": len(graph.neighbours(np.arange(graph.size)).targets),
        "embedder": settings.model,
        "analyzers": list(settings.analyzers),
        "builders": [builder.kind for builder in settings.builders],
        "bytes": {part.name: part.stat().st_size for part in parts if part.exists()},
    }


Done = TypeVar("Done", int, Added)

_WITHOUT_EMBEDDER = frozenset(Capability) - {Capability.EMBEDDER, Capability.TEXT_EMBEDDER, Capability.WORD_VECTORS}


class KnowledgeBase(StoredDocuments, SnapshotRankings):
    """Documents and everything needed to find them, in one file or in a temporary one.

    One process writes at a time, any number read; every search sees the latest committed state. Adding is batched:
    an interrupted `add` keeps the batches already committed, and running it again skips what has not changed.

    >>> with KnowledgeBase.open() as kb:
    ...     kb.add([Document("skua", "The Skua is a ferry."), Document("gate", "The tide gate opens at six.")])
    ...     [hit.id for hit in kb.search("ferry").hits]
    Added(added=2, updated=0, unchanged=0)
    ['skua', 'gate']
    """

    def __init__(self, connections: Connections, settings: Settings, approximate_above: int) -> None:
        self.path = connections.path
        self.settings = settings
        self._connections = connections
        self._writer = Writer(connections, settings)
        self._snapshot = Snapshot(connections, ImageFolder(connections.file), settings.analyzers, approximate_above)
        self._compaction = Compaction(connections, self._snapshot)
        self.compact_in_background = self._compaction.start_if_needed
        self._smoothed = SmoothedVectors(self._snapshot)
        self._questions = QuestionVectors(settings.embedder, settings.model)
        self._temporary: TemporaryFolder | None = None

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        embedder: Any = UNSET,
        analyzers: Sequence[str] | None = None,
        builders: Sequence[GraphBuilder] | None = None,
        approximate_above: int = 100_000,
        own_share: float | None = None,
        read_only: bool = False,
        allow_graph: bool = False,
        tenant_fields: Sequence[str] = (),
        busy_seconds: float = 30.0,
    ) -> "KnowledgeBase":
        """Open a file, or create it. Without a path the knowledge base is temporary and gone when closed.

        `embedder` is anything that embeds texts, or None for no vectors; `builders` connect documents (by mentions,
        links and parts; an empty list for no graph); with an `own_share` below 1, vector search blends the vector of a
        document with those of its neighbours in the graph. They and `analyzers` (nlp) are settled when the file is new.
        Above `approximate_above` vectors, search looks into near cells. `allow_graph` is for files of `GraphStore`.
        Every question has to give a tenant by `tenant_fields`, which a file that only tenants write to learns by
        itself; for documents of all tenants, ask within `hopweave.every_tenant()`.
        """
        temporary = TemporaryFolder() if path is None else None
        file = temporary.path / "temporary.db" if temporary else Path(path or "")
        connections = Connections(file, busy_seconds=busy_seconds, read_only=read_only)
        try:
            holds: Literal["documents"] | None = None if allow_graph else "documents"
            settings = Settings.of(connections, embedder, analyzers, builders, own_share, holds=holds)
            opened = cls(connections, settings, approximate_above)
        except BaseException:
            connections.close()
            raise
        if tenant_fields:
            opened._require_tenants(tenant_fields)
        opened._temporary, opened._compaction.is_temporary = temporary, temporary is not None
        return opened

    def close(self) -> None:
        """Close the file. A compaction that is under way is finished first."""
        self._compaction.wait()
        self._connections.close()
        if self._temporary:
            self._temporary.cleanup()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is the path of its file, which another process opens for itself."""
        options: dict[str, Any] = {"embedder": self.settings.embedder} if self.settings.named else {}
        return partial(KnowledgeBase.open, read_only=self._connections.read_only, **options), (self._connections.file,)

    def __enter__(self) -> "KnowledgeBase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def add(
        self,
        documents: Iterable[Document],
        *,
        on_conflict: Literal["replace", "skip", "fail"] = "replace",
        batch_size: int = 256,
        workers: int = 1,
        progress: Callable[[int], object] | None = None,
        vectors_of: str | None = None,
        tenant: Tenant | None = None,
    ) -> Added:
        """Add documents, or replace those whose id is known and whose content differs.

        Each batch is one transaction. With several `workers`, that many processes prepare batches and this one stores
        them, with the same result; a program that uses them needs `if __name__ == "__main__":`.
        An id that comes twice in one call with different content is an error; with `on_conflict="skip"`, the first one
        counts.
        `progress` is called with the number of documents of each committed batch. `vectors_of` names the model of
        vectors that come with the documents; without it, some are embedded again, and if they differ that is an error.
        With a
        `tenant`, a document that is not the tenant's, or whose id is that of a document that is not, is an error.
        """
        check_writing(on_conflict, batch_size, workers)
        documents, tenant = (
            of_one_model(documents, self.settings, self._connections, vectors_of, batch_size),
            in_context(tenant),
        )
        how: dict[str, Any] = {"on_conflict": on_conflict, "batch_size": batch_size, "workers": workers}
        return self._written(self._writer.add(documents, **how, progress=progress, tenant=tenant))

    def update(self, documents: Iterable[Document]) -> Added:
        """Replace documents that exist; an unknown id is an error that names it, and then nothing is changed."""
        return self._written(self._writer.update(of_one_model(documents, self.settings, self._connections, None)))

    def replace(
        self,
        source: str,
        documents: Iterable[Document],
        *,
        vectors_of: str | None = None,
        tenant: Tenant | None = None,
    ) -> Added:
        """Make these the documents of a source, such as a file; what it had besides goes, in one transaction.

        With a `tenant`, sources of that name which other tenants have are left alone; without, a source is that of all.

        >>> with KnowledgeBase.open(embedder=None) as kb:
        ...     _ = kb.replace("ships.md", [Document("skua", "A ferry."), Document("tern", "A tug.")])
        ...     kb.replace("ships.md", [Document("skua", "A ferry.")]).removed, kb.ids()
        (1, ['skua'])
        """
        documents = of_one_model(documents, self.settings, self._connections, vectors_of)
        return self._written(self._writer.replace(source, documents, in_context(tenant)))

    def delete(
        self,
        ids: Iterable[str] | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        tenant: Tenant | None = None,
    ) -> int:
        """Remove documents, and all that was derived from them, by id or by metadata; says how many went.

        Unknown ids are passed over, and with a `tenant` those of other tenants' documents. `where` is a filter on
        metadata as in a query. For their bytes, see `compact`.

        >>> with KnowledgeBase.open(embedder=None) as kb:
        ...     _ = kb.add([Document("skua", "A ferry.", {"year": 1974}), Document("tern", "A tug.", {"year": 1990})])
        ...     kb.delete(where={"year": {"lt": 1980}}), kb.ids()
        (1, ['tern'])
        """
        return self._written(self._writer.delete(ids, where, in_context(tenant)))

    def remove_missing(self, present: Mapping[str, Collection[str]], *, other_sources: bool = False) -> int:
        """Remove documents that their source no longer has: of each source given, all but the ids that are present.

        With `other_sources`, the documents of all sources that are not given go too.
        """
        present = {source: checked_ids(ids, f"present[{source!r}]") for source, ids in present.items()}
        with self._connections.writing() as connection:
            sources = {*present, *(self.sources() if other_sources else ())}
            count = sum(
                remove(connection, ids_of_source(connection, source) - set(present.get(source, ())))
                for source in sorted(sources)
            )
        return self._written(count)

    def record_source_files(self, files: Mapping[str, SourceFile]) -> None:
        """Note which files sources are read from, so that files of the same names elsewhere can be told apart.

        >>> with KnowledgeBase.open(embedder=None) as kb:
        ...     _ = kb.replace("ships.md", [Document("skua", "A ferry.")])
        ...     kb.record_source_files({"ships.md": SourceFile("/fleet/ships.md", "/fleet")})
        ...     kb.source_files()["ships.md"].folder
        '/fleet'
        """
        with self._connections.writing(same_content=True) as connection:
            write_source_files(connection, files)

    def contribute(self, contributions: Iterable[Contribution]) -> None:
        """Record what a graph from elsewhere says, under ids of your own; `delete` these ids to take it back.

        Under the id of a document, it stands beside what the document says itself, and goes when the document goes.
        """
        with self._connections.writing() as connection:
            record_imported(connection, list(contributions))

    def repair(self, *, batch_size: int = 256, progress: Callable[[int], object] | None = None) -> int:
        """Embed the documents that another embedder of a cascade embedded, which `check` names; says how many."""
        return self._written(embed_again(self._connections, self.settings, batch_size, progress))

    def _written(self, done: Done) -> Done:
        if done.changes if isinstance(done, Added) else done:
            self._compaction.start_if_needed()
        return done

    def compact(self, *, rebuild: bool = False, if_needed: bool = False, vacuum: bool = False) -> None:
        """Write new index images now, merge the full-text index and empty the log; others read and write meanwhile.

        The file compacts itself in the background when a tenth of it, and at least 1,000 entries, have changed. With
        `rebuild`, the indexes are worked out from the documents alone. With `vacuum`, the file is written anew too, for
        which writers wait, about 1.1 s for 100,000 passages: it gets smaller, and nothing of documents deleted before
        is in the file, its log or its images. With `if_needed`, images are written only if one is
        missing or unusable, or as much has changed, and with `vacuum` as well all of it is done if there are
        `deleted_remains`.
        """
        if self._connections.read_only:
            raise KnowledgeBaseError(f"{self.path}: was opened read-only")
        self._compaction.run(rebuild=rebuild, if_needed=if_needed, vacuum=vacuum)

    def restore(self, file: str | Path) -> None:
        """Put the content of another file, such as a backup, in the place of this one's.

        Processes that have this file open follow, as after any write; the other file stays as it is.
        The other file is checked first, which takes as long as `check`; one that is damaged, empty, of another program
        or of other settings is refused. The file is exchanged in one transaction, and then its images are made anew.
        """
        if self._connections.read_only:
            raise KnowledgeBaseError(f"{self.path}: was opened read-only")

        def put(folder: Path) -> None:
            with sound_copy(self._connections, self.settings, Path(file), folder) as copy:
                put_in_place(self._connections, copy)

        self._compaction.restore(put)

    @property
    def deleted_remains(self) -> bool:
        """Whether documents were deleted or replaced since `compact(vacuum=True)`; parts may be in the file."""
        return self._compaction.deleted_remains()

    def embed_with(self, embedder: GraphEmbedder) -> None:
        """Keep an embedder in the file and embed all documents with it; others cannot write meanwhile."""
        embed_anew(self._connections, embedder)
        self.settings = Settings.of(self._connections, UNSET)
        self._writer = Writer(self._connections, self.settings)
        self._questions = QuestionVectors(self.settings.embedder, self.settings.model)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All capabilities; those of an embedder only if there is one."""
        return _WITHOUT_EMBEDDER | {Capability.EMBEDDER} if self.settings.embedder else _WITHOUT_EMBEDDER

    @property
    def version(self) -> int:
        """Grows with every write; equal versions mean equal contents."""
        with self._connections.autocommit_read() as connection:
            return version_of(connection)

    @property
    def tenant_fields(self) -> tuple[str, ...]:
        """The metadata fields that every question has to give a tenant by; none if documents are for all.

        >>> with KnowledgeBase.open(embedder=None) as kb:
        ...     _ = kb.add([Document("a", "A ferry.", {"customer": "acme"})], tenant={"customer": "acme"})
        ...     kb.tenant_fields
        ('customer',)
        """
        with self._connections.autocommit_read() as connection:
            return stored_tenant_fields(connection)

    def check_tenant(self, tenant: Tenant | None) -> None:
        """Raise if the documents are those of tenants, and this does not say whose are meant."""
        require_tenant(self.tenant_fields, tenant, str(self.path))

    def _require_tenants(self, fields: Sequence[str]) -> None:
        checked_tenant(dict.fromkeys(fields, ""))
        known = self.tenant_fields
        if set(known) == set(fields):
            return
        if known or self._connections.read_only:
            raise KnowledgeBaseError(
                f"{self.path}: its tenant_fields are {', '.join(known) or 'none'}, not {', '.join(fields)}; open it "
                "without naming any, or for writing if it has none"
            )
        with self._connections.writing(same_content=True) as connection:
            write_settings(connection, {"tenant_fields": list(fields)})

    def one_version(self) -> AbstractContextManager[None]:
        """Within it, all that is asked is of the version that the file has now, as in every search."""
        return self._snapshot.one_version()

    def search(
        self,
        query: "str | Query",
        *,
        recipe: "str | Recipe" = DEFAULT_RECIPE,
        top_k: int | None = None,
        filters: Filters | None = None,
        tenant: Tenant | None = None,
    ) -> "Result":
        """Run a recipe over this knowledge base; `filters` and `tenant` take the place of the query's own."""
        from hopweave.pipeline import Pipeline

        asked = query if isinstance(query, Query) else Query(query)
        filters, tenant = (asked.filters if filters is None else filters), (asked.tenant if tenant is None else tenant)
        return Pipeline(recipe, self).run(replace(asked, filters=filters, tenant=tenant), top_k=top_k)

    @property
    def graph(self) -> TableGraph:
        """The graph that the documents make together, as it is now."""
        return self._snapshot.graph()

    def communities(self, ids: Iterable[str], *, tenant: Tenant | None = None) -> dict[str, str]:
        """The community of the graph that each of these documents belongs to, as far as there are communities."""
        graph, ids = self.graph, checked_ids(ids)
        ids = ids if tenant is None else sorted(self.visible(tenant, ids))
        labels = communities(graph)
        numbers = passage_numbers(graph, ids)
        return {} if labels is None else {key: str(labels[number]) for key, number in numbers.items()}

    def check(self) -> list[str]:
        """Everything that is wrong with the file, in words; an empty list when it is sound."""
        with self._connections.reading() as connection:
            return problems(connection, self._connections.file, self.settings) or [
                *image_problems(connection, self._snapshot),
                *vectors_to_repair(connection, self.settings),
            ]

    def check_notes(self) -> list[str]:
        """What is worth knowing about the file and is no damage, in words: images that are missing or left over."""
        with self._connections.reading() as connection:
            return list(image_notes(connection, self._snapshot.folder))

    def info(self) -> dict[str, Any]:
        """What the file holds: documents, graph, settings, bytes on disk, and the share changed since compaction.

        >>> with KnowledgeBase.open() as kb:
        ...     _ = kb.add([Document("skua", "The Skua is a ferry.")])
        ...     kb.info()["documents"]
        1
        """
        with self._connections.reading() as connection:
            changed = {index.name: index.changed_share(connection) for index in self._snapshot.persisted(connection)}
        own = {"documents": self.count(), "version": self.version, "deleted_remains": self.deleted_remains}
        return own | {"changed": changed} | facts(self._connections.file, self.settings, self.graph)

    @property
    def own_share(self) -> float:
        """The share of a document's own vector in vector search, as settled when the file was new."""
        return self.settings.own_share

    def within(self, filters: Filters, *, tenant: Tenant | None = None) -> Within:
        """The documents that pass filters and that a tenant may see, read once for each version of the file."""
        with self._snapshot.view() as view:
            rows = view.within(filters, tenant)
        return Within(len(rows), self._restricted_to(rows))

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a text and the name of the embedding model that made it."""
        vector_of = self._questions.of  # first, as it is an error to ask what has been closed
        if self.settings.embedder is None:
            raise KnowledgeBaseError(f"{self.path}: has no embedder; give the question a vector, or open it with one")
        return vector_of(text)
