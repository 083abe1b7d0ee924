"""A bonus for what is recent."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import NOW
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.recency_boost import RecencyBoost


@derived(RecencyBoost)
class RecencyBoostRanker(StageRanker):
    """
    Score = score + weight · 2^(-age / half-life). Undated documents get no bonus.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import RecencyBoostRanker

    ranker = RecencyBoostRanker(half_life_days=7)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"timestamp": "2026-01-01"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    inputs = (*StageRanker.inputs, NOW)
