"""Old documents fade, down to a floor."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.dated_ranker import DatedRanker
from hopweave.stages.adjust.time_decay import TimeDecay

_CORE = TimeDecay()


@component
class TimeDecayRanker(DatedRanker):
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

    def __init__(
        self,
        *,
        half_life_days: float = _CORE.half_life_days,
        floor: float = _CORE.floor,
        decay: str = _CORE.decay,
        timestamp_field: str = _CORE.timestamp_field,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param half_life_days: Age at which the decaying share is halved.
        :param floor: Share of the score that does not decay.
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param timestamp_field: Metadata field with the date.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = TimeDecay(
            optional=optional,
            half_life_days=half_life_days,
            floor=floor,
            decay=decay,
            timestamp_field=timestamp_field,
        )
        DatedRanker.__init__(self, stage, top_k=top_k)
