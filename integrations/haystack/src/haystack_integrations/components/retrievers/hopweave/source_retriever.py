"""What all retrievers share: a question in, one source of the core, documents out."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from haystack import Document
from haystack.document_stores.types import DocumentStore, FilterPolicy
from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.inputs import (
    FILTERS,
    NAMED_DOCUMENTS,
    OVERRIDES,
    QUERY,
    SKIP,
    TENANT,
    TOP_K,
    Input,
)
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import (
    accept_documents,
    given_documents,
    overridden,
)
from haystack_integrations.common.hopweave.questions import (
    DEFER,
    Skip,
    Tenant,
    as_retriever_filter_policy,
    asks_for_paths,
    chosen_filters,
    narrowed,
    to_query,
)
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.common.hopweave.upstream import Upstream
from hopweave import Pipeline, Query, Recipe, Result
from hopweave.component import Source
from hopweave.metadata.tenants import checked_fields, checked_tenant, require_tenant


class SourceRetriever(CoreComponent):
    """
    Base class of retrievers.

    Filters are honoured by fetching more until `top_k` documents pass. An optional source that fails or is too slow
    gives no documents, so that whatever follows treats its branch as skipped, but says why in `failures` and the log.
    """

    inputs: ClassVar[tuple[Input, ...]] = (QUERY, FILTERS, TOP_K, TENANT, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document], "failures": dict[str, str]}
    named_in: ClassVar[str] = "seeds_from"
    """The parameter that names the inputs for documents of other retrievers."""

    source: Source
    knowledge_base: str | None
    document_store: DocumentStore | None
    filters: dict[str, Any] | None
    tenant: dict[str, Any] | None
    tenant_required: list[str]
    graph: str | Secret | None = None
    graph_schema: str = "hopweave"
    _file: KnowledgeFile

    def _hold(
        self,
        source: Source,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        *,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = (),
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param source: The source of the core.
        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
        self.source = source
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.document_store = document_store
        self.filters = filters
        self.filter_policy = as_retriever_filter_policy(filter_policy)
        self.tenant = checked_tenant(tenant)
        self.tenant_required = list(checked_fields(tenant_required))
        self._file = KnowledgeFile(knowledge_base, document_store, self.graph, self.graph_schema)

    @property
    def top_k(self) -> int:
        """How many documents to return."""
        return self.source.top_k

    def warm_up(self) -> None:
        """Open knowledge base and graph."""
        self._file.warm_up()

    def close(self) -> None:
        """Let go of the knowledge base."""
        self._file.close()

    def _run(self, *, skip: Skip = None, **inputs: Any) -> dict[str, Any]:
        """
        Find documents for a question.

        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        if self._is_skipped(skip):
            return {}
        pipeline, question = self._prepare(**inputs)
        return self._finish(pipeline.find(question, filtered=False) if self._defers else pipeline.run(question))

    async def _run_async(self, *, skip: Skip = None, **inputs: Any) -> dict[str, Any]:
        if self._is_skipped(skip):
            return {}
        pipeline, question = await asyncio.to_thread(self._prepare, **inputs)  # it may open files
        found = pipeline.find_async(question, filtered=False) if self._defers else pipeline.run_async(question)
        return self._finish(await found)

    def _is_skipped(self, skip: Skip) -> bool:
        return bool(skip) and self.source.skipped_by(to_query("", skip=skip))

    @property
    def _defers(self) -> bool:
        return self.filter_policy == DEFER

    def _prepare(
        self,
        *,
        filters: dict[str, Any] | None,
        top_k: int | None,
        tenant: Tenant,
        overrides: dict[str, Any] | None,
        query: str = "",
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        documents: Mapping[str, list[Document] | None] | None = None,
        **question: Any,
    ) -> tuple[Pipeline, Query]:
        source = overridden(self.source, overrides, top_k=top_k, restart=restart)
        if not asks_for_paths(plan):
            source = source.changed(prune=None)
        found = given_documents(self.named_in, source.needs, documents or {})
        upstream = {name: Upstream(documents=tuple(found.get(name, ()))) for name in source.needs}
        recipe = Recipe.of_source(source, upstream=upstream)
        asked = to_query(
            query,
            filters=chosen_filters(self.filter_policy, self.filters, filters),
            tenant=narrowed(self.tenant, tenant),
            **question,
        )
        require_tenant(self.tenant_required, asked.tenant, type(self).__name__)
        return Pipeline(recipe, self._file.knowledge()), asked

    def _finish(self, result: Result) -> dict[str, Any]:
        failed = {f"failed.{name}": why for name, why in result.failures.items()}
        missing = {f"missing.{name}": number for name, number in result.missing.items()}
        tag(self.source.kind, result.hits, **failed, **missing)
        if result.failures:
            return {"failures": report_failures(self, result.failures)}
        return {"documents": [to_document(hit) for hit in result.hits]}


class GraphRetriever(SourceRetriever):
    """Base class of retrievers over the graph, with an input for documents under each name in `seeds_from`."""

    inputs: ClassVar[tuple[Input, ...]] = (*SourceRetriever.inputs, NAMED_DOCUMENTS)

    def _hold(
        self,
        source: Source,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        *,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = (),
    ) -> None:
        """
        Create the retriever; file and graph are opened on first use.

        :param source: The source of the core.
        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param document_store: Where the documents live, if not in the knowledge base; they go by the same ids.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them, in the place of a knowledge base; then `document_store` is needed.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        super()._hold(
            source,
            knowledge_base,
            document_store,
            filters=filters,
            filter_policy=filter_policy,
            tenant=tenant,
            tenant_required=tenant_required,
        )
        accept_documents(self, self.named_in, source.needs)
