"""No documents at all rather than some that do not have the answer."""

from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.questions import Skip
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.confidence import confidence
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold

_CORE = ConfidenceThreshold()


@component
class ConfidenceThresholdRanker(StageRanker):
    """
    Returns all documents or none: none if the answer is probably not among them.

    The probability follows from how much of the question the first documents cover, how far the best stands out, how
    far words and vectors agree, and how well names were linked. Place it right after a joiner or retriever of hopweave,
    whose receipts it reads. A branch on `confidence` can then say that there is no result.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import ConfidenceThresholdRanker

    ranker = ConfidenceThresholdRanker(min_confidence=0.2)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="What is the capital of Mongolia?")
    assert result["documents"] == [] and result["confidence"] < 0.2
    ```
    """

    def __init__(
        self,
        *,
        min_confidence: float = _CORE.min_confidence,
        min_cosine: float | None = _CORE.min_cosine,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param min_confidence: The lowest probability with which documents are returned.
        :param min_cosine: A cosine of the best document by vectors that is enough by itself; None for none.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = ConfidenceThreshold(
            optional=optional,
            min_confidence=min_confidence,
            min_cosine=min_cosine,
        )
        StageRanker.__init__(self, stage, top_k=top_k)

    @component.output_types(documents=list[Document], confidence=float, failures=dict[str, str])
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Return all documents or none.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and `confidence`.
        """
        return self._with_confidence(self._rank(documents, query, top_k, overrides, skip=skip), documents, query)

    @component.output_types(documents=list[Document], confidence=float, failures=dict[str, str])
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Return all documents or none, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and `confidence`.
        """
        return self._with_confidence(
            await self._rank_async(documents, query, top_k, overrides, skip=skip), documents, query
        )

    def _with_confidence(self, ranked: dict[str, Any], documents: list[Document], query: str) -> dict[str, Any]:
        return {**ranked, "confidence": confidence(self._hits(documents), query).probability}
