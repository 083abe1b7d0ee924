"""Newer conversations first."""

from collections.abc import Sequence

from haystack import component

from haystack_integrations.components.rankers.hopweave.dated_ranker import DatedRanker
from hopweave.stages.adjust.freshness import Freshness

_CORE = Freshness()


@component
class FreshnessRanker(DatedRanker):
    """
    Score = (1 - weight) · score + weight · 2^(-age / half-life), for documents of the given corpus types.

    Scores are brought to [0, 1] first, those without an upper bound (of BM25, or of unknown scale and above 1) as
    shares of the best one. Other documents and undated ones keep the score that they have then.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import FreshnessRanker

    ranker = FreshnessRanker(half_life_days=30)
    meta = {"corpus_type": "CONVO_SLACK", "timestamp": "2026-01-01"}
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta=meta)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        weight: float = _CORE.weight,
        half_life_days: float = _CORE.half_life_days,
        decay: str = _CORE.decay,
        corpus_types: Sequence[str] | None = _CORE.corpus_types,
        corpus_type_field: str = _CORE.corpus_type_field,
        timestamp_field: str = _CORE.timestamp_field,
        clamp: bool = _CORE.clamp,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param weight: Share of the score that freshness makes up.
        :param half_life_days: Age at which freshness is 0.5.
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param corpus_types: Corpus types it applies to, with * and ? as wildcards; None applies to all
            documents.
        :param corpus_type_field: Metadata field with the corpus type.
        :param timestamp_field: Metadata field with the date.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = Freshness(
            optional=optional,
            weight=weight,
            half_life_days=half_life_days,
            decay=decay,
            corpus_types=corpus_types,
            corpus_type_field=corpus_type_field,
            timestamp_field=timestamp_field,
            clamp=clamp,
        )
        DatedRanker.__init__(self, stage, top_k=top_k)
