"""Cosine search: documents that mean something close to the question."""

from typing import Any

from haystack import Document, component

from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.vector.index import NearestVectors

_CORE = NearestVectors()


@component
class VectorRetriever(SourceRetriever):
    """
    Documents by cosine between their vector and that of the question, which the knowledge base's own embedder makes.

    Use `EmbeddingRetriever` if a Haystack embedder makes the question's vector.

    ```python
    from haystack_integrations.components.retrievers.hopweave import VectorRetriever

    retriever = VectorRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        model: str | None = _CORE.model,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param model: Name of the embedding model; the knowledge base's own when not given.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = NearestVectors(
            model=model,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(self, source, knowledge_base=knowledge_base, filters=filters, tenant=tenant)


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
        knowledge_base: str,
        model: str | None = _CORE.model,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param model: Name of the model that makes the question's vector; the knowledge base's own when not given.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = NearestVectors(model=model, top_k=top_k, optional=optional, deadline_seconds=deadline_seconds)
        SourceRetriever.__init__(self, source, knowledge_base=knowledge_base, filters=filters, tenant=tenant)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        **inputs: Any,
    ) -> dict[str, list[Document]]:
        """
        Find documents for the vector of a question.

        :param query_embedding: The vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param inputs: Other values for parameters of the constructor, for this run.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; nothing if an optional source failed.
        """
        pipeline, question = self._prepare("", filters, top_k, {**inputs, "query_embedding": query_embedding})
        return self._finish(pipeline.run(question))

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        **inputs: Any,
    ) -> dict[str, list[Document]]:
        """
        Find documents for the vector of a question without blocking the event loop.

        :param query_embedding: The vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param inputs: Other values for parameters of the constructor, for this run.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; nothing if an optional source failed.
        """
        pipeline, question = self._prepare("", filters, top_k, {**inputs, "query_embedding": query_embedding})
        return self._finish(await pipeline.run_async(question))
