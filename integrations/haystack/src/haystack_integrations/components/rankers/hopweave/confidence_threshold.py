"""No documents at all rather than some that do not have the answer."""

from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.confidence import confidence
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold


@derived(ConfidenceThreshold)
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

    outputs: ClassVar[dict[str, Any]] = {**StageRanker.outputs, "confidence": float}

    def _run(self, documents: list[Document], **inputs: Any) -> dict[str, Any]:
        """
        Return all documents or none.

        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and `confidence`.
        """
        ranked = StageRanker._run(self, documents, **inputs)
        return {**ranked, "confidence": confidence(self._hits(documents), inputs["query"]).probability}

    async def _run_async(self, documents: list[Document], **inputs: Any) -> dict[str, Any]:
        ranked = await StageRanker._run_async(self, documents, **inputs)
        return {**ranked, "confidence": confidence(self._hits(documents), inputs["query"]).probability}
