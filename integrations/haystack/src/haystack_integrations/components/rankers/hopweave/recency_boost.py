"""A bonus for what is recent."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.dated_ranker import DatedRanker
from hopweave.stages.adjust.recency_boost import RecencyBoost

_CORE = RecencyBoost()


@component
class RecencyBoostRanker(DatedRanker):
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

    def __init__(
        self,
        *,
        weight: float = _CORE.weight,
        half_life_days: float = _CORE.half_life_days,
        decay: str = _CORE.decay,
        timestamp_field: str = _CORE.timestamp_field,
        clamp: bool = _CORE.clamp,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param weight: Bonus of a document of age 0.
        :param half_life_days: Age at which the bonus is halved.
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param timestamp_field: Metadata field with the date.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = RecencyBoost(
            optional=optional,
            weight=weight,
            half_life_days=half_life_days,
            decay=decay,
            timestamp_field=timestamp_field,
            clamp=clamp,
        )
        DatedRanker.__init__(self, stage, top_k=top_k)
