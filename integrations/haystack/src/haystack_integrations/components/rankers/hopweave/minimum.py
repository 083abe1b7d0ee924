"""Weak documents are dropped."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.minimum import Minimum

_CORE = Minimum()


@component
class MinimumRanker(StageRanker):
    """
    Drops documents whose score is under the minimum, in [0, 1]. The order stays.

    Logits become probabilities and scores without an upper end become shares of the best one, so that a minimum means
    the same whatever came before. A document without a score is neither good nor bad and stays.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MinimumRanker

    ranker = MinimumRanker(minimum=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        minimum: float = _CORE.minimum,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param minimum: The lowest score that stays.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = Minimum(
            minimum=minimum,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
