"""Recipes as query engines."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.failures import collected_failures
from llama_index.hopweave.knowledge import opened
from llama_index.postprocessor.hopweave import postprocessor_for
from llama_index.query_engine.hopweave.gate import GateQueryEngine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe


class RecipeQueryEngine(RetrieverQueryEngine):
    """
    A recipe made of LlamaIndex parts: retriever, one node postprocessor per stage, cited response synthesis.

    If an optional source fails, the response's metadata has the reason under `["hopweave"]["failures"]`.

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe.
        knowledge_base: An open knowledge base, or the path of its file.
        llm: The language model that answers; without one, the answer is made of the best sentences.
        embed_model: The model that embeds questions, if the file alone cannot say; see `llama_index.hopweave.opened`.
        retrievers: LlamaIndex retrievers by the name of the recipe's source whose place they take.
        similarity_top_k: How many nodes to answer from; the recipe's own number when not given.
        tenant: Metadata values a document must have to be seen at all, by retriever, stages and synthesis alike.
        now: The time to go by; the current time when not given.
        response_synthesizer: Answers instead of the one the recipe's context asks for.
        callback_manager: LlamaIndex's callback manager.
        options: What `RecipeRetriever` takes: `filters` ...

    """

    def __init__(
        self,
        recipe: str | Path | Recipe,
        knowledge_base: KnowledgeBase | str | Path,
        *,
        llm: LLM | None = None,
        embed_model: BaseEmbedding | None = None,
        retrievers: Mapping[str, BaseRetriever] | None = None,
        similarity_top_k: int | None = None,
        tenant: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        response_synthesizer: BaseSynthesizer | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        """Build the parts."""
        self.recipe = load_recipe(recipe)
        knowledge = opened(knowledge_base, embed_model)
        self._similarity_top_k = self.recipe.top_k if similarity_top_k is None else similarity_top_k
        retriever = RecipeRetriever(
            knowledge,
            recipe=self.recipe,
            retrievers=retrievers,
            similarity_top_k=similarity_top_k,
            tenant=tenant,
            now=now,
            stages=False,
            **options,
        )
        context = Pipeline(self.recipe, knowledge).context
        written = (
            ExtractiveAnswerSynthesizer(context=context, tenant=tenant)
            if llm is None
            else ContextBuilderSynthesizer(llm, context=context, tenant=tenant)
        )
        super().__init__(
            retriever,
            response_synthesizer or written,
            [
                postprocessor_for(stage, knowledge_base=knowledge, tenant=tenant, now=now)
                for stage in self.recipe.stages
            ],
            callback_manager,
        )

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with collected_failures() as failures:
            return _with_failures(super()._query(query_bundle), failures)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with collected_failures() as failures:
            return _with_failures(await super()._aquery(query_bundle), failures)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes that the recipe finds, best first."""
        return super().retrieve(query_bundle)[: self._similarity_top_k]

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        return (await super().aretrieve(query_bundle))[: self._similarity_top_k]


def _with_failures(response: RESPONSE_TYPE, failures: dict[str, str]) -> RESPONSE_TYPE:
    if failures:
        metadata = response.metadata or {}
        response.metadata = {**metadata, "hopweave": {**metadata.get("hopweave", {}), "failures": failures}}
    return response


def load_query_engine(
    recipe: str | Path | Recipe, knowledge_base: KnowledgeBase | str | Path, *, llm: LLM | None = None, **options: Any
) -> BaseQueryEngine:
    """
    A query engine from a recipe: by the name of a shipped one, or from your own YAML file.

    ```python
    from llama_index.query_engine.hopweave import load_query_engine

    engine = load_query_engine("hybrid", "hopweave.db")
    print(engine.query("When does the tide gate open?"))
    ```

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe.
        knowledge_base: An open knowledge base, or the path of its file.
        llm: The language model that answers; without one, the answer is made of the best sentences.
        options: What `RecipeQueryEngine` takes: `retrievers`, `similarity_top_k`, `filters`, `tenant`, `now` ...

    Returns:
        The engine, behind a gate if the recipe has one.

    """
    recipe = load_recipe(recipe)
    engine = RecipeQueryEngine(recipe.model_copy(update={"gate": None}), knowledge_base, llm=llm, **options)
    return engine if recipe.gate is None else GateQueryEngine(engine, recipe.gate, llm=llm)
