"""Rankers that compare documents with the vector of the question."""

from typing import Any, ClassVar

from haystack import Document, component

from haystack_integrations.common.hopweave.questions import Skip
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker


class QuestionVectorRanker(StageRanker):
    """Base class of rankers with an input for the question's vector."""

    reads_vectors: ClassVar[bool] = True

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector, if it is not for a knowledge base to make it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return self._rank(documents, query, top_k, overrides, skip=skip, query_embedding=query_embedding)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector, if it is not for a knowledge base to make it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return await self._rank_async(documents, query, top_k, overrides, skip=skip, query_embedding=query_embedding)
