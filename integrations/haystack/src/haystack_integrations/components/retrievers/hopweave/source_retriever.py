"""What all retrievers share: a question in, one source of the core, documents out."""

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.documents import to_document
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
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile, OverKnowledge
from haystack_integrations.common.hopweave.parameters import accept_documents, given_documents, overridden
from haystack_integrations.common.hopweave.questions import (
    DEFER,
    RetrieverFilterPolicy,
    Skip,
    Tenant,
    asks_for_paths,
    chosen_filters,
    narrowed,
    to_query,
)
from haystack_integrations.common.hopweave.settings import (
    DOCUMENT_STORE,
    FILTER_POLICY,
    GRAPH,
    GRAPH_SCHEMA,
    KNOWLEDGE_BASE,
    OWN_FILTERS,
    OWN_TENANT,
    TENANT_REQUIRED,
    Setting,
)
from haystack_integrations.common.hopweave.tracing import report
from haystack_integrations.common.hopweave.upstream import Upstream
from hopweave import Pipeline, Query, Recipe, Result
from hopweave.component import Source
from hopweave.metadata.tenants import require_tenant


class SourceRetriever(OverKnowledge):
    """
    Base class of retrievers.

    Filters are honoured by fetching more until `top_k` documents pass. An optional source that fails or is too slow
    gives no documents, so that whatever follows treats its branch as skipped, but says why in `failures` and the log.
    """

    inputs: ClassVar[tuple[Input, ...]] = (QUERY, FILTERS, TOP_K, TENANT, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document], "failures": dict[str, str]}
    named_in: ClassVar[str] = "seeds_from"
    """The parameter that names the inputs for documents of other retrievers."""

    settings: ClassVar[tuple[Setting, ...]] = (
        KNOWLEDGE_BASE,
        DOCUMENT_STORE,
        OWN_FILTERS,
        FILTER_POLICY,
        OWN_TENANT,
        TENANT_REQUIRED,
    )

    source: Source
    filters: dict[str, Any] | None
    filter_policy: RetrieverFilterPolicy
    tenant: dict[str, Any] | None
    tenant_required: list[str]
    _file: KnowledgeFile

    def _hold(self, source: Source) -> None:
        """Create the retriever; files are opened on first use."""
        self.source = source
        self._file = self._located()

    @property
    def top_k(self) -> int:
        """How many documents to return."""
        return self.source.top_k

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
        missing = {f"missing.{name}": number for name, number in result.missing.items()}
        failed = report(self, self.source.kind, result.hits, result.failures, **missing)
        return failed or {"documents": [to_document(hit) for hit in result.hits]}


class GraphRetriever(SourceRetriever):
    """Base class of retrievers over the graph, with an input for documents under each name in `seeds_from`."""

    inputs: ClassVar[tuple[Input, ...]] = (*SourceRetriever.inputs, NAMED_DOCUMENTS)

    settings: ClassVar[tuple[Setting, ...]] = (*SourceRetriever.settings, GRAPH, GRAPH_SCHEMA)

    def _hold(self, source: Source) -> None:
        """Create the retriever; file and graph are opened on first use."""
        super()._hold(source)
        accept_documents(self, self.named_in, source.needs)
