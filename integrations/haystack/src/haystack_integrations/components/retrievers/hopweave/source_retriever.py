"""What all retrievers share: a question in, one source of the core, documents out."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from haystack import Document
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import (
    NamedParameters,
    accept_documents,
    given_documents,
    overridden,
    written,
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
from hopweave.metadata.tenants import checked_tenant


class SourceRetriever(NamedParameters):
    """
    Base class of retrievers; a component derives from it and adds its constructor, and `run` with its inputs.

    Filters are honoured by fetching more until `top_k` documents pass. An optional source that fails or is too slow
    gives no documents, so that whatever follows treats its branch as skipped, but says why in `failures` and the log.
    """

    def __init__(
        self,
        source: Source,
        *,
        knowledge_base: str | Path | None,
        document_store: DocumentStore | None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        filters: dict[str, Any] | None,
        filter_policy: str | FilterPolicy,
        tenant: dict[str, Any] | None,
    ) -> None:
        """
        Hold a source; the file is opened on first use.

        :param source: The source of the core.
        :param knowledge_base: Path of the knowledge base file; not needed with a `HopweaveDocumentStore`.
        :param document_store: Where the documents live, if not in the knowledge base.
        :param graph: Path, URL or secret of a graph in the place of that of the knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these, are merged with them, or are left to a later
            component.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        self.source = source
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.filters = filters
        self.filter_policy = as_retriever_filter_policy(filter_policy)
        self.tenant = checked_tenant(tenant)
        self.document_store = document_store
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self._file = KnowledgeFile(knowledge_base, document_store, graph, graph_schema)
        accept_documents(self, "seeds_from", source.needs)

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

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(
            self,
            self.source,
            knowledge_base=self.knowledge_base,
            filters=self.filters,
            filter_policy=str(self.filter_policy),
            tenant=self.tenant,
            document_store=self.document_store,
            graph=self.graph,
            graph_schema=self.graph_schema,
        )

    def _find(self, *arguments: Any, skip: Skip = None, **inputs: Any) -> dict[str, Any]:
        if self._is_skipped(skip):
            return {}
        pipeline, question = self._prepare(*arguments, **inputs)
        return self._finish(pipeline.find(question, filtered=False) if self._defers else pipeline.run(question))

    async def _find_async(self, *arguments: Any, skip: Skip = None, **inputs: Any) -> dict[str, Any]:
        if self._is_skipped(skip):
            return {}
        pipeline, question = await asyncio.to_thread(self._prepare, *arguments, **inputs)  # it may open files
        found = pipeline.find_async(question, filtered=False) if self._defers else pipeline.run_async(question)
        return self._finish(await found)

    def _is_skipped(self, skip: Skip) -> bool:
        return bool(skip) and self.source.skipped_by(to_query("", skip=skip))

    @property
    def _defers(self) -> bool:
        return self.filter_policy == DEFER

    def _prepare(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        tenant: Tenant,
        overrides: dict[str, Any] | None,
        *,
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        documents: Mapping[str, list[Document] | None] | None = None,
        **question: Any,
    ) -> tuple[Pipeline, Query]:
        source = overridden(self.source, overrides, top_k=top_k, restart=restart)
        if not asks_for_paths(plan):
            source = source.changed(prune=None)
        found = given_documents("seeds_from", source.needs, documents or {})
        upstream = {name: Upstream(documents=tuple(found.get(name, ()))) for name in source.needs}
        recipe = Recipe.of_source(source, upstream=upstream)
        asked = to_query(
            query,
            filters=chosen_filters(self.filter_policy, self.filters, filters),
            tenant=narrowed(self.tenant, tenant),
            **question,
        )
        return Pipeline(recipe, self._file.knowledge()), asked

    def _finish(self, result: Result) -> dict[str, Any]:
        failed = {f"failed.{name}": why for name, why in result.failures.items()}
        missing = {f"missing.{name}": number for name, number in result.missing.items()}
        tag(self.source.kind, result.hits, **failed, **missing)
        if result.failures:
            return {"failures": report_failures(self, result.failures)}
        return {"documents": [to_document(hit) for hit in result.hits]}
