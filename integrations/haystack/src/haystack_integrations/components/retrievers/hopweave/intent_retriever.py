"""Retrievers whose source goes by what the question is after."""

from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.questions import Skip, Tenant
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever


class IntentRetriever(SourceRetriever):
    """Base class of retrievers with an input for the intent of the question."""

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        intent: dict[str, Any] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param intent: What the question is after, from an `IntentRouter`.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        return self._find(query, filters, top_k, tenant, overrides, skip=skip, intent=intent)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        intent: dict[str, Any] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Find documents for a question without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param intent: What the question is after, from an `IntentRouter`.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        return await self._find_async(query, filters, top_k, tenant, overrides, skip=skip, intent=intent)
