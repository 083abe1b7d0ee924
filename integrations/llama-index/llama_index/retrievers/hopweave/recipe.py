"""A whole recipe as one retriever."""

from pathlib import Path
from typing import Any

from llama_index.core.instrumentation import get_dispatcher
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave import to_node

from hopweave import KnowledgeBase, Pipeline, Recipe

dispatcher = get_dispatcher(__name__)


class RecipeRetriever(BaseRetriever):
    """
    Answers a query by running a hopweave recipe over a knowledge base.

    Args:
        knowledge_base: An open knowledge base, or the path of its file.
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe.
        similarity_top_k: How many nodes to return; the recipe's own number when not given.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import RecipeRetriever

        retriever = RecipeRetriever("hopweave.db", recipe="hybrid")
        nodes = retriever.retrieve("Who built the tide gate?")
        ```

    """

    def __init__(
        self,
        knowledge_base: KnowledgeBase | str | Path,
        *,
        recipe: str | Path | Recipe = "hybrid",
        similarity_top_k: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Open the knowledge base and load the recipe."""
        knowledge = (
            knowledge_base
            if isinstance(knowledge_base, KnowledgeBase)
            else KnowledgeBase.open(knowledge_base, read_only=True)
        )
        self._pipeline = Pipeline(recipe, knowledge)
        self._similarity_top_k = similarity_top_k
        super().__init__(**kwargs)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._pipeline.run(query_bundle.query_str, top_k=self._similarity_top_k)
        return [to_node(hit) for hit in result.hits]

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = await self._pipeline.run_async(query_bundle.query_str, top_k=self._similarity_top_k)
        return [to_node(hit) for hit in result.hits]
