"""Relevant, and not the same thing again."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker
from hopweave.stages.diversify.mmr import MMR


@derived(MMR)
class MMRRanker(KnowledgeRanker):
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

    reads_vectors = True
