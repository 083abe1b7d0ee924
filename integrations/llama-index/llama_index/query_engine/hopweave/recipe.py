"""Recipes as query engines."""

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.knowledge import opened
from llama_index.postprocessor.hopweave import postprocessor_for
from llama_index.query_engine.hopweave.gate import GatedQueryEngine
from llama_index.response_synthesizers.hopweave import CitedSynthesizer, ExtractiveSynthesizer
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe


class RecipeQueryEngine(RetrieverQueryEngine):
    """
    A recipe made of LlamaIndex parts: retriever, one node postprocessor per stage, cited response synthesis.

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe.
        knowledge_base: An open knowledge base, or the path of its file.
        llm: The language model that answers; without one, the answer is made of the best sentences.
        retrievers: LlamaIndex retrievers by the name of the recipe's source whose place they take.
        similarity_top_k: How many nodes to answer from; the recipe's own number when not given.
        now: The time to go by; the current time when not given.
        response_synthesizer: Answers instead of the one the recipe's context asks for.
        callback_manager: LlamaIndex's callback manager.
        options: What `RecipeRetriever` takes: `filters`, `tenant` ...

    """

    def __init__(
        self,
        recipe: str | Path | Recipe,
        knowledge_base: KnowledgeBase | str | Path,
        *,
        llm: LLM | None = None,
        retrievers: Mapping[str, BaseRetriever] | None = None,
        similarity_top_k: int | None = None,
        now: datetime | None = None,
        response_synthesizer: BaseSynthesizer | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        """Build the parts."""
        self.recipe = load_recipe(recipe)
        knowledge = opened(knowledge_base)
        self._similarity_top_k = self.recipe.top_k if similarity_top_k is None else similarity_top_k
        retriever = RecipeRetriever(
            knowledge,
            recipe=self.recipe,
            retrievers=retrievers,
            similarity_top_k=similarity_top_k,
            now=now,
            stages=False,
            **options,
        )
        context = Pipeline(self.recipe, knowledge).context
        written = ExtractiveSynthesizer(context=context) if llm is None else CitedSynthesizer(llm, context=context)
        super().__init__(
            retriever,
            response_synthesizer or written,
            [postprocessor_for(stage, knowledge_base=knowledge, now=now) for stage in self.recipe.stages],
            callback_manager,
        )

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes that the recipe finds, best first."""
        return super().retrieve(query_bundle)[: self._similarity_top_k]

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        return (await super().aretrieve(query_bundle))[: self._similarity_top_k]


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
    return engine if recipe.gate is None else GatedQueryEngine(engine, recipe.gate, llm=llm)
