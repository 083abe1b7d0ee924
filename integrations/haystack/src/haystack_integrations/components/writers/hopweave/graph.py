"""Indexing for documents that live in a store of the user's: their graph alone."""

from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.dataclasses import ByteStream
from haystack.document_stores.types import DocumentStore
from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import check_documents, to_passage
from haystack_integrations.common.hopweave.graph_location import Graph, located
from haystack_integrations.common.hopweave.indexing_run import sources_named, whole_store, with_source
from haystack_integrations.common.hopweave.knowledge_settings import (
    BATCH_SIZE,
    BUILDERS,
    MAX_DELETED,
    SOURCE_FIELD,
    Described,
    made_builders,
)
from haystack_integrations.common.hopweave.settings import GRAPH, GRAPH_SCHEMA
from hopweave import GraphStore
from hopweave.graph_store.location import GraphLocation
from hopweave.knowledge_base.indexing_run import write_run

_WHOLE = "source_id"  # where Haystack's splitters say which document a part comes from


@derived()
class GraphWriter(CoreComponent):
    """
    Writes what documents contribute to a graph, without their texts and vectors, which stay in the store they are in.

    The graph is an SQLite file or lies in PostgreSQL, where many processes may write to it. Writing what has not
    changed does nothing, and writing a document again replaces what it contributed. Parts that Haystack's splitters
    made (`source_id`, `split_id`) are known as parts of one document.

    ```python
    from haystack import Document
    from haystack_integrations.components.writers.hopweave import GraphWriter

    writer = GraphWriter(graph="graph.db")
    writer.run(documents=[Document(content="The Skua was built at Sørvåg.", meta={"title": "MV Skua"})])
    ```
    """

    settings = (
        replace(
            GRAPH,
            type=Graph,
            description="Path of a file, or URL of a PostgreSQL database; one with a password as a secret.",
            default=Parameter.empty,
        ),
        GRAPH_SCHEMA,
        BUILDERS,
        SOURCE_FIELD,
        BATCH_SIZE,
        MAX_DELETED,
    )

    graph: str | Secret
    graph_schema: str
    builders: list[Described] | None
    source_field: str | None
    batch_size: int
    max_deleted_share: float

    def _hold(self, _core: Any) -> None:
        """Create the writer; the graph is opened on first use."""
        located(self.graph, self.graph_schema)  # which refuses what is no place for a graph
        self._location: GraphLocation | None = None

    def close(self) -> None:
        """Let go of the graph."""
        if self._location is not None:
            self._location.close()

    @component.output_types(documents_written=int, unchanged=int, deleted=int)
    def run(
        self,
        documents: list[Document],
        complete: bool = False,
        sources: list[str | Path | ByteStream] | None = None,
        max_deleted_share: float | None = None,
    ) -> dict[str, int]:
        """
        Write what documents contribute to the graph.

        :param documents: The documents.
        :param complete: Whether these are all the documents there are; any other is deleted then. Nothing is written or
            deleted if that were all, or more than `max_deleted_share`.
        :param sources: Sources that were read, as the converter got them, with `source_field`: what one had before is
            deleted if no document comes from it any more, as from a file that is empty now.
        :param max_deleted_share: Instead of what was given at construction.
        :returns: `documents_written`, those added or replaced, `unchanged`, and `deleted`.
        :raises ValueError: If it is not a list of documents.
        """
        check_documents(documents)
        store = self._open()
        done = write_run(
            store,
            [with_source(to_passage(one), self.source_field, _WHOLE) for one in documents],
            source_field=self.source_field or "",
            by_source=self.source_field is not None,
            empty_sources=sources_named(sources, self.source_field),
            complete=complete,
            max_deleted_share=self.max_deleted_share if max_deleted_share is None else max_deleted_share,
            batch_size=self.batch_size,
        )
        return {
            "documents_written": done.added + done.updated,
            "unchanged": done.unchanged,
            "deleted": done.removed,
        }

    def delete_documents(
        self,
        document_ids: list[str] | None = None,
        *,
        source: str | None = None,
        where: dict[str, Any] | None = None,
    ) -> int:
        """
        Take documents out of the graph; give one of the three.

        :param document_ids: Their ids.
        :param source: The source all of whose documents go: what `source_field` says, or without it the id of the
            document that parts were split from (`source_id`).
        :param where: Metadata values that all documents have which go, such as `{"file_path": "ships.md"}`.
        :returns: How many there were.
        """
        return self._open().delete(document_ids, source=source, where=where)

    def mirror(self, document_store: DocumentStore) -> dict[str, int]:
        """
        Make the graph that of the documents in a store that you already have, and of no others.

        All documents are read, but what has not changed is not written again. A store that lists fewer documents than
        it counts is refused, and nothing is written or deleted.

        :param document_store: The document store.
        :returns: What `run` returns.
        """
        return self.run(**whole_store(document_store, self.max_deleted_share))

    def _open(self) -> GraphStore:
        if self._location is None:  # builders may name what is registered after this was made
            builders = made_builders(self.builders)
            self._location = located(self.graph, self.graph_schema, writable=True, builders=builders)
        return self._location.open()
