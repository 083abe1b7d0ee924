"""A whole recipe as one retriever."""

from datetime import datetime
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave import Pipeline, Query, Result, load_recipe


@component
class RecipeRetriever:
    """
    Answers a query by running a hopweave recipe over a knowledge base file.

    ```python
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    retriever = RecipeRetriever(knowledge_base="hopweave.db", recipe="hybrid")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        recipe: str = "hybrid",
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param recipe: Name of a shipped recipe, or path of a YAML file.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param filters: Haystack metadata filters, applied after fusion.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        load_recipe(recipe)
        self.knowledge_base = knowledge_base
        self.recipe = recipe
        self.top_k = top_k
        self.filters = filters
        self.tenant = tenant
        self._file = KnowledgeFile(knowledge_base)

    def warm_up(self) -> None:
        """Open the knowledge base."""
        self._file.open()

    def close(self) -> None:
        """Let go of the knowledge base."""
        self._file.close()

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> dict[str, list[Document]]:
        """
        Find documents for a query.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector, if it is not for the knowledge base's embedder to make it.
        :param now: The time that freshness goes by, the current one when not given.
        :param tenant: Metadata values a document must have to be seen at all, instead of those given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k, query_embedding, now, tenant)
        return _finish(pipeline.run(question, top_k=wanted))

    @component.output_types(documents=list[Document])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> dict[str, list[Document]]:
        """
        Find documents for a query without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector, if it is not for the knowledge base's embedder to make it.
        :param now: The time that freshness goes by, the current one when not given.
        :param tenant: Metadata values a document must have to be seen at all, instead of those given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k, query_embedding, now, tenant)
        return _finish(await pipeline.run_async(question, top_k=wanted))

    def _prepare(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        query_embedding: list[float] | None,
        now: datetime | str | None,
        tenant: dict[str, Any] | None,
    ) -> tuple[Pipeline, Query, int | None]:
        question = to_query(
            query,
            filters=self.filters if filters is None else filters,
            tenant=self.tenant if tenant is None else tenant,
            query_embedding=query_embedding,
            now=now,
        )
        return Pipeline(self.recipe, self._file.open()), question, self.top_k if top_k is None else top_k


def _finish(result: Result) -> dict[str, list[Document]]:
    tag("recipe", result.hits, intent=result.query.intent.name if result.query.intent else "none")
    return {"documents": [to_document(hit) for hit in result.hits]}
