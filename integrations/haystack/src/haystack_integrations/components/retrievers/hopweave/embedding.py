"""Cosine search with a vector that a Haystack embedder made of the question."""

from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.common.hopweave.questions import Skip, Tenant
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.vector_search import VectorSearch

_CORE = VectorSearch()


@component
class EmbeddingRetriever(SourceRetriever):
    """
    Documents by cosine between their vector and one that a Haystack embedder made of the question.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder
    from haystack_integrations.components.retrievers.hopweave import EmbeddingRetriever

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    retriever = EmbeddingRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query_embedding=embedding)["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        model: str | None = _CORE.model,
        own_share: float | None = _CORE.own_share,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param model: Model that made the vector which comes with a question; the knowledge base's when not given.
        :param own_share: Share of a document's own vector, the rest being that of its neighbours in the graph; 1 does
            not blend; as settled for the file if not given, which is 1 by default.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = VectorSearch(
            model=model, own_share=own_share, top_k=top_k, optional=optional, deadline_seconds=deadline_seconds
        )
        SourceRetriever.__init__(
            self,
            source,
            knowledge_base=knowledge_base,
            document_store=document_store,
            filters=filters,
            filter_policy=filter_policy,
            tenant=tenant,
        )

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Find documents for the vector of a question.

        :param query_embedding: The vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        return self._find("", filters, top_k, tenant, overrides, skip=skip, query_embedding=query_embedding)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Find documents for the vector of a question without blocking the event loop.

        :param query_embedding: The vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        return await self._find_async("", filters, top_k, tenant, overrides, skip=skip, query_embedding=query_embedding)
