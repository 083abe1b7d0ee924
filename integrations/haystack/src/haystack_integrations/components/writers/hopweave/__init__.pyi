# Written by `make fix`.
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from haystack.dataclasses.byte_stream import ByteStream
from haystack.dataclasses.document import Document
from haystack.document_stores.types.protocol import DocumentStore
from haystack.utils.auth import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent

class GraphWriter(CoreComponent):
    r"""
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

    graph: str | Secret
    graph_schema: str
    builders: list[str | dict[str, Any]] | None
    source_field: str | None
    batch_size: int
    max_deleted_share: float
    def close(self) -> None:
        r"""Let go of the graph."""
    def run(
        self,
        documents: list[Document],
        complete: bool = False,
        sources: list[str | Path | ByteStream] | None = None,
        max_deleted_share: float | None = None,
    ) -> dict[str, int]:
        r"""
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
    def delete_documents(
        self, document_ids: list[str] | None = None, *, source: str | None = None, where: dict[str, Any] | None = None
    ) -> int:
        r"""
        Take documents out of the graph; give one of the three.

        :param document_ids: Their ids.
        :param source: The source all of whose documents go: what `source_field` says, or without it the id of the
            document that parts were split from (`source_id`).
        :param where: Metadata values that all documents have which go, such as `{"file_path": "ships.md"}`.
        :returns: How many there were.
        """
    def mirror(self, document_store: DocumentStore) -> dict[str, int]:
        r"""
        Make the graph that of the documents in a store that you already have, and of no others.

        All documents are read, but what has not changed is not written again. A store that lists fewer documents than
        it counts is refused, and nothing is written or deleted.

        :param document_store: The document store.
        :returns: What `run` returns.
        """
    def __init__(
        self,
        *,
        graph: str | Path | Secret,
        graph_schema: str = "hopweave",
        builders: Sequence[str | dict[str, Any]] | None = None,
        source_field: str | None = None,
        batch_size: int = 256,
        max_deleted_share: float = 0.1,
    ) -> None:
        r"""
        Create the writer; the graph is opened on first use.

        :param graph: Path of a file, or URL of a PostgreSQL database; one with a password as a secret.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param builders: What connects documents, by kind or as mappings; None for the usual builders, an empty list
            for no graph. They matter only when the file or graph is new.
        :param source_field: Metadata field that says where a document comes from, such as `file_path`. What a
            source had before and has no more is deleted when its documents are written again, in one transaction
            per source. Converters keep the name of a file without its folder unless they have
            `store_full_path=True`; such a name is refused, as files in other folders can have it. Without the
            field, nothing is deleted.
        :param batch_size: How many documents make a transaction.
        :param max_deleted_share: How much of what is there a run with `complete` may delete, without as many new
            documents; 1 for all of it.
        """

class KnowledgeBaseWriter(CoreComponent):
    r"""
    Writes documents, their vectors, terms and graph to a knowledge base file.

    Writing what has not changed costs next to nothing, and writing a document again replaces all that was derived from
    it. Who finds the entities in a text can be exchanged: register spaCy, GLiNER, an LLM or any function with
    `hopweave.graph.build.builders.mentions.register_extractor` and name it in `builders`, as in
    `builders=[{"kind": "mentions", "extractor": "my extractor"}]`. What an extractor in front of this component puts
    into a document's meta becomes nodes and edges through the builder `metadata`.

    ```python
    from haystack import Document
    from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

    writer = KnowledgeBaseWriter(knowledge_base="hopweave.db")
    writer.run(documents=[Document(content="The Skua was built at Sørvåg.", meta={"title": "MV Skua"})])
    ```
    """

    knowledge_base: str
    embedder: str | dict[str, Any] | None
    analyzers: list[str] | None
    builders: list[str | dict[str, Any]] | None
    own_share: float | None
    on_conflict: Literal["replace", "skip", "fail"]
    source_field: str | None
    skip_noise: bool
    batch_size: int
    tenant: dict[str, Any] | None
    max_deleted_share: float
    embedding_model: str | None
    def run(
        self,
        documents: list[Document],
        on_conflict: Literal["replace", "skip", "fail"] | None = None,
        complete: bool = False,
        sources: list[str | Path | ByteStream] | None = None,
        max_deleted_share: float | None = None,
    ) -> dict[str, Any]:
        r"""
        Write documents.

        :param documents: The documents.
        :param on_conflict: What to do about ids that are taken, instead of what was given at construction. Documents
            with a source always replace what is there.
        :param complete: Whether these are all the documents there are, or all of the tenant; any other is deleted then.
            Nothing is written or deleted if that were all, or more than `max_deleted_share`.
        :param sources: Sources that were read, as the converter got them, with `source_field`: what one had before is
            deleted if no document comes from it any more, as from a file that is empty now.
        :param max_deleted_share: Instead of what was given at construction.
        :returns: `documents_written`, those added or replaced, `unchanged`, and `deleted`; and `skipped`, the ids of
            documents that are noise with the reasons, if these are left out.
        :raises ValueError: If it is not a list of documents.
        """
    def mirror(self, document_store: DocumentStore) -> dict[str, Any]:
        r"""
        Bring the file in line with a store that you already have.

        All documents are read, but what has not changed is not written again. A store that lists fewer documents than
        it counts is refused, and nothing is written or deleted.

        :param document_store: The document store.
        :returns: What `run` returns.
        """
    def __init__(
        self,
        *,
        knowledge_base: str | Path,
        embedder: str | dict[str, Any] | None = "auto",
        analyzers: Sequence[str] | None = None,
        builders: Sequence[str | dict[str, Any]] | None = None,
        own_share: float | None = None,
        on_conflict: Literal["replace", "skip", "fail"] = "replace",
        source_field: str | None = None,
        skip_noise: bool = False,
        batch_size: int = 256,
        tenant: dict[str, Any] | None = None,
        max_deleted_share: float = 0.1,
        embedding_model: str | None = None,
    ) -> None:
        r"""
        Create the writer; the file is opened when documents are written.

        :param knowledge_base: Path of the knowledge base file.
        :param embedder: What makes the vectors of documents that come without an embedding, by kind (`static`) or
            as a mapping with kind and parameters; None leaves them without, and keeps the embeddings that documents
            bring along. "auto" is "static", or None if the first documents bring embeddings of another model.
        :param analyzers: How text becomes terms: nlp, nlp:<language>, code, light.
        :param builders: What connects documents, by kind or as mappings; None for the usual builders, an empty list
            for no graph. They matter only when the file or graph is new.
        :param own_share: With less than 1, vector search blends the vector of a document with those of its
            neighbours in the graph, which get the rest; None for 1.
        :param on_conflict: What to do about ids that are taken: replace, skip or fail.
        :param source_field: Metadata field that says where a document comes from, such as `file_path`. What a
            source had before and has no more is deleted when its documents are written again, in one transaction
            per source. Converters keep the name of a file without its folder unless they have
            `store_full_path=True`; such a name is refused, as files in other folders can have it. Without the
            field, nothing is deleted.
        :param skip_noise: Whether to leave out greetings, denials, questions about memory and session messages, as
            the stage `noise` knows them. What was written under their ids before is deleted if `on_conflict` is
            replace.
        :param batch_size: How many documents make a transaction.
        :param tenant: Metadata values that all documents written here have, where tenants share a file. Then only
            those of the tenant are replaced or deleted; without, a source replaces one of the same name of another
            tenant.
        :param max_deleted_share: How much of what is there a run with `complete` may delete, without as many new
            documents; 1 for all of it.
        :param embedding_model: The name of the model that made the embeddings of the documents, which a file that
            keeps them as given remembers. Without it, some are made again, and those of another model are refused
            as far as that shows.
        """

__all__ = [
    "GraphWriter",
    "KnowledgeBaseWriter",
]
