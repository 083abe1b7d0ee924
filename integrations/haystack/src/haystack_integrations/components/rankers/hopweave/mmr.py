"""Relevant, and not the same thing again."""

from pathlib import Path
from typing import ClassVar

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.diversify.mmr import MMR

_CORE = MMR()


@component
class MMRRanker(StageRanker):
    """
    Picks documents one by one, each time the one with the largest marginal relevance.

    mmr = relevance_weight * relevance - (1 - relevance_weight) * largest similarity to any document chosen so far.

    Similarity is the cosine, 0 where it is negative or a vector is missing. The other strategies are those of
    pyversity, with `relevance_weight` in the same sense. Scores stay as they are; the receipt has the rank and the
    mmr value. Nothing is dropped unless `top_k` says so. Documents without a score come last, in their order.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MMRRanker

    ranker = MMRRanker(relevance_weight=0.5, top_k=5)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    reads_vectors: ClassVar[bool] = True

    def __init__(
        self,
        *,
        strategy: str = _CORE.strategy,
        relevance_weight: float = _CORE.relevance_weight,
        relevance: str = _CORE.relevance,
        optional: bool = False,
        top_k: int | None = _CORE.top_k,
        candidates: int = _CORE.candidates,
        knowledge_base: str | Path | None = None,
    ) -> None:
        """
        Create the ranker.

        :param strategy: mmr, or one of the other strategies of pyversity.
        :param relevance_weight: 1: relevance alone; 0: diversity alone.
        :param relevance: How scores become relevance. unit: as they are if bounded, else divided by their
            maximum; max: always divided by their maximum; min_max: stretched to [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: Number of documents to keep; all if not given.
        :param candidates: Number of documents, from the top, to select from; the others follow in their order.
        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        """
        stage = MMR(
            optional=optional,
            strategy=strategy,
            relevance_weight=relevance_weight,
            relevance=relevance,
            top_k=top_k,
            candidates=candidates,
        )
        StageRanker.__init__(self, stage, top_k=top_k, knowledge_base=knowledge_base)
