"""A whole recipe as one retriever."""

from typing import Any

from haystack import Document, component
from haystack.utils.filters import document_matches_filter

from haystack_integrations.common.hopweave import to_document
from hopweave import Hit, KnowledgeBase, Pipeline, Query


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

    def __init__(self, *, knowledge_base: str, recipe: str = "hybrid", top_k: int | None = None) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param recipe: Name of a shipped recipe, or path of a YAML file.
        :param top_k: How many documents to return; the recipe's own number when not given.
        """
        self.knowledge_base = knowledge_base
        self.recipe = recipe
        self.top_k = top_k
        self._pipeline: Pipeline | None = None

    def warm_up(self) -> None:
        """Open the knowledge base and load the recipe."""
        if self._pipeline is None:
            self._pipeline = Pipeline(self.recipe, KnowledgeBase.open(self.knowledge_base, read_only=True))

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """
        Find documents for a query.

        :param query: The question.
        :param filters: Haystack metadata filters, applied after fusion.
        :param top_k: How many documents to return, instead of the number given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k)
        return {"documents": [to_document(hit) for hit in pipeline.run(question, top_k=wanted).hits]}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """
        Find documents for a query without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, applied after fusion.
        :param top_k: How many documents to return, instead of the number given at construction.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        pipeline, question, wanted = self._prepare(query, filters, top_k)
        result = await pipeline.run_async(question, top_k=wanted)
        return {"documents": [to_document(hit) for hit in result.hits]}

    def _prepare(
        self, query: str, filters: dict[str, Any] | None, top_k: int | None
    ) -> tuple[Pipeline, Query, int | None]:
        self.warm_up()

        def admits(hit: Hit) -> bool:
            return document_matches_filter(filters, to_document(hit))

        question = Query(query, filters=admits if filters else None)
        return self._pipeline, question, self.top_k if top_k is None else top_k
