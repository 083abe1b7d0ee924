"""Newer conversations first."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import NOW
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.freshness import Freshness


@derived(Freshness)
class FreshnessRanker(StageRanker):
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

    inputs = (*StageRanker.inputs, NOW)
