"""Weak documents are dropped."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.score_threshold import ScoreThreshold


@derived(ScoreThreshold)
class ScoreThresholdRanker(StageRanker):
    """
    Drops documents whose score is under the minimum, in [0, 1]. The order stays.

    Logits become probabilities and scores without an upper end become shares of the best one, so that a minimum means
    the same whatever came before. A document without a score is neither good nor bad and stays.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import ScoreThresholdRanker

    ranker = ScoreThresholdRanker(min_score=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """
