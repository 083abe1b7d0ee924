"""A whole recipe as one retriever."""

from datetime import datetime
from pathlib import Path
from typing import Any

from haystack import Document, component, default_to_dict
from haystack.document_stores.types import DocumentStore, FilterPolicy
from haystack.document_stores.types.filter_policy import apply_filter_policy

from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile, load_embedder
from haystack_integrations.common.hopweave.questions import Tenant, as_filter_policy, narrowed, to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave import Pipeline, Query, Result, load_recipe
from hopweave.vector.vector_search import VectorSearch


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
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        recipe: str = "hybrid",
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever. The recipe is read now, the knowledge base is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: A `HopweaveDocumentStore`, instead of the path of its file.
        :param recipe: Name of a shipped recipe, or path of a YAML file.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param filters: Haystack metadata filters, applied after fusion.
        :param filter_policy: Whether filters given to `run` replace these (`replace`) or are merged in (`merge`).
        :param tenant: Metadata values a document must have to be seen at all.
        """
        self._recipe = load_recipe(recipe)
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.document_store = document_store
        self.recipe = recipe
        self.top_k = top_k
        self.filters = filters
        self.filter_policy = as_filter_policy(filter_policy)
        self.tenant = tenant
        self._file = KnowledgeFile(knowledge_base, document_store)

    def warm_up(self) -> None:
        """Open the knowledge base, and load its embedding model if the recipe has a source that needs it."""
        opened = self._file.open()
        if any(isinstance(source, VectorSearch) for source in self._recipe.sources.values()):
            load_embedder(opened)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return default_to_dict(
            self,
            knowledge_base=self.knowledge_base,
            document_store=self.document_store,
            recipe=self.recipe,
            top_k=self.top_k,
            filters=self.filters,
            filter_policy=self.filter_policy.value,
            tenant=self.tenant,
        )

    def close(self) -> None:
        """Let go of the knowledge base."""
        self._file.close()

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: Tenant = None,
    ) -> dict[str, Any]:
        """
        Find documents for a query.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector, if it is not for the knowledge base's embedder to make it.
        :param now: The time that freshness goes by, the current one when not given.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`, and, if optional sources failed or
            were too slow, `failures` with the reasons by source.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k, query_embedding, now, tenant)
        return self._finish(pipeline.run(question, top_k=wanted))

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: Tenant = None,
    ) -> dict[str, Any]:
        """
        Find documents for a query without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector, if it is not for the knowledge base's embedder to make it.
        :param now: The time that freshness goes by, the current one when not given.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`, and, if optional sources failed or
            were too slow, `failures` with the reasons by source.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k, query_embedding, now, tenant)
        return self._finish(await pipeline.run_async(question, top_k=wanted))

    def _prepare(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        query_embedding: list[float] | None,
        now: datetime | str | None,
        tenant: Tenant,
    ) -> tuple[Pipeline, Query, int | None]:
        question = to_query(
            query,
            filters=apply_filter_policy(self.filter_policy, self.filters, filters),
            tenant=narrowed(self.tenant, tenant),
            query_embedding=query_embedding,
            now=now,
        )
        return Pipeline(self._recipe, self._file.open()), question, self.top_k if top_k is None else top_k

    def _finish(self, result: Result) -> dict[str, Any]:
        failed = {f"failed.{name}": why for name, why in result.failures.items()}
        tag("recipe", result.hits, intent=result.query.intent.name if result.query.intent else "none", **failed)
        found: dict[str, Any] = {"documents": [to_document(hit) for hit in result.hits]}
        return {**found, "failures": report_failures(self, result.failures)} if result.failures else found
