"""What all retrievers share: a question in, one source of the core, documents out."""

from typing import Any, ClassVar

from haystack import Document, component
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.documents import to_document
from haystack_integrations.common.hopweave.elsewhere import documents_in
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import accept_overrides, split, written
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.common.hopweave.upstream import Upstream
from hopweave import Pipeline, Query, Recipe, Result
from hopweave.component import Source
from hopweave.fusion.as_found import AsFound


class SourceRetriever:
    """
    The frame of a retriever; a component derives from it and adds its constructor.

    Filters are honoured by fetching more until `top_k` documents pass. An optional source that fails or is too slow
    gives no output at all, so that whatever follows treats its branch as skipped. Every parameter of the constructor
    can be given to `run` as well, and then holds for that run. A source that builds on others has an input for each.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        source: Source,
        *,
        knowledge_base: str,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
        document_store: DocumentStore | None = None,
    ) -> None:
        """
        Hold a source; the file is opened on first use.

        :param source: The source of the core.
        :param knowledge_base: Path of the knowledge base file.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        :param document_store: Where the documents live, if not in the knowledge base.
        """
        self.source = source
        self.knowledge_base = knowledge_base
        self.filters = filters
        self.tenant = tenant
        self.document_store = document_store
        self._file = KnowledgeFile(knowledge_base)
        accept_overrides(self, type(source), (*self.asks, "tenant"))
        for name in source.needs:
            component.set_input_type(self, name, list[Document] | None, None)

    @property
    def top_k(self) -> int:
        """How many documents to return."""
        return self.source.top_k

    def warm_up(self) -> None:
        """Open the knowledge base."""
        self._file.open()

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
            tenant=self.tenant,
            document_store=self.document_store,
        )

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None, **inputs: Any
    ) -> dict[str, list[Document]]:
        """
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param inputs: What the sources found that this one builds on, and other values for parameters of the
            constructor.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; nothing if an optional source failed.
        """
        pipeline, question = self._prepare(query, filters, top_k, inputs)
        return self._finish(pipeline.run(question))

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None, **inputs: Any
    ) -> dict[str, list[Document]]:
        """
        Find documents for a question without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param inputs: What the sources found that this one builds on, and other values for parameters of the
            constructor.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; nothing if an optional source failed.
        """
        pipeline, question = self._prepare(query, filters, top_k, inputs)
        return self._finish(await pipeline.run_async(question))

    def _prepare(
        self, query: str, filters: dict[str, Any] | None, top_k: int | None, inputs: dict[str, Any]
    ) -> tuple[Pipeline, Query]:
        given, rest = split({"tenant": self.tenant, "top_k": top_k} | inputs)
        found = {name: Upstream(documents=tuple(rest.pop(name, ()))) for name in self.source.needs}
        source = self.source.changed(**rest)
        recipe = Recipe(
            name=source.kind,
            sources={**found, source.kind: source},
            fuse=AsFound(source=source.kind),
            top_k=source.top_k,
        )
        question = to_query(query, filters=self.filters if filters is None else filters, **given)
        knowledge_base = self._file.open()
        store = self.document_store
        return Pipeline(recipe, documents_in(store, knowledge_base.graph) if store else knowledge_base), question

    def _finish(self, result: Result) -> dict[str, list[Document]]:
        tag(self.source.kind, result.hits, **{f"failed.{name}": why for name, why in result.failures.items()})
        return {} if result.failures else {"documents": [to_document(hit) for hit in result.hits]}
