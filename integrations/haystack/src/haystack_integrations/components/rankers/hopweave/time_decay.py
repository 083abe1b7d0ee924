"""Old documents fade, down to a floor."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import NOW
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.time_decay import TimeDecay


@derived(TimeDecay)
class TimeDecayRanker(StageRanker):
    """
    Score = score · (floor + (1 - floor) · 2^(-age / half-life)). Undated documents keep their score.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import TimeDecayRanker

    ranker = TimeDecayRanker(half_life_days=30, floor=0.25)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"timestamp": "2026-01-01"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    inputs = (*StageRanker.inputs, NOW)
