"""Weak documents are dropped."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.score_threshold import ScoreThreshold

_CORE = ScoreThreshold()


@component
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

    def __init__(
        self,
        *,
        min_score: float = _CORE.min_score,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param min_score: The lowest score that is kept.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = ScoreThreshold(
            optional=optional,
            min_score=min_score,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
