"""Sources as retrievers."""

from collections.abc import Collection, Mapping
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from llama_index.core.callbacks import CallbackManager
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilters
from llama_index.hopweave.knowledge import opened
from llama_index.hopweave.questions import to_query
from llama_index.hopweave.retriever_source import check_capabilities, retriever_source
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever

from hopweave.component import Source
from hopweave.knowledge import Knowledge
from hopweave.metadata.filters import Filters
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe
from hopweave.routing.intent import IntentClassifier


class SourceRetriever(PipelineRetriever):
    """
    Asks one source of the core. Derive from it and name the source.

    Args:
        knowledge_base: An open knowledge base, the path of its file, or `documents_in(store, graph)`.
        similarity_top_k: How many nodes to return; the source's own number when not given.
        filters: LlamaIndex metadata filters; more is fetched until there are enough nodes that pass.
        tenant: Metadata values a document must have to be seen at all.
        tenant_required: Metadata fields for which every question needs a tenant; one without is refused.
        embed_model: The model that embeds questions, if the file alone cannot say; see `llama_index.hopweave.opened`.
        intent: Finds out what the question is after, for sources that go by it.
        upstream: Retrievers whose nodes the source builds on, by the name it knows them under.
        callback_manager: LlamaIndex's callback manager.
        verbose: Whether LlamaIndex prints what it does.
        parameters: Parameters of the source.

    """

    source_class: ClassVar[type[Source]]

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = (),
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **parameters: Any,
    ) -> None:
        """Set the source up; it checks its parameters."""
        wanted = {} if similarity_top_k is None else {"top_k": similarity_top_k}
        source = self.source_class(**wanted, **parameters)
        others = self._upstream(source, upstream)
        recipe = Recipe.of_source(source, upstream=others, intent=intent)
        knowledge = opened(knowledge_base, embed_model)
        check_capabilities(recipe, knowledge, "give retrievers of your store in upstream; upstream={} for none")
        super().__init__(
            Pipeline(recipe, knowledge),
            similarity_top_k=source.top_k,
            filters=filters,
            tenant=tenant,
            tenant_required=tenant_required,
            callback_manager=callback_manager,
            verbose=verbose,
        )

    def as_part(self, number: int, filters: Filters | None) -> PipelineRetriever:
        """
        The same retriever as a part of a recipe: what the filters exclude may still lead a walk to others.

        Args:
            number: How many nodes are wanted at least.
            filters: The filters of the recipe.

        Returns:
            This retriever, or a copy.

        """
        part = super().as_part(number, filters)
        if filters is None or self._admits is not None:
            return part
        part = copy(part)
        part._admits = filters
        part._run = partial(self._pipeline.find, filtered=False)
        part._run_async = partial(self._pipeline.find_async, filtered=False)
        return part

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [] if self._is_skipped(query_bundle) else super()._retrieve(query_bundle)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [] if self._is_skipped(query_bundle) else await super()._aretrieve(query_bundle)

    def _is_skipped(self, query_bundle: QueryBundle) -> bool:
        recipe = self._pipeline.recipe
        return recipe.sources[recipe.name].skipped_by(to_query(query_bundle))

    def _upstream(self, source: Source, upstream: Mapping[str, BaseRetriever] | None) -> dict[str, Source]:  # noqa: ARG002
        return {name: retriever_source(one) for name, one in (upstream or {}).items()}
