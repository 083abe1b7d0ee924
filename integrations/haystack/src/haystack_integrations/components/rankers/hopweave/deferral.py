"""Near-duplicates step back behind everything that says something new."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker
from hopweave.stages.diversify.deferral import Deferral


@derived(Deferral)
class DeferralRanker(KnowledgeRanker):
    """
    A document more similar than `max_similarity` to one already chosen moves to the end. Nothing is dropped.

    Documents are taken in the order given. A document without a vector is similar to none. Scores stay as they are.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import DeferralRanker

    ranker = DeferralRanker(max_similarity=0.9)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    reads_vectors = True
