"""Let every community of the graph be heard."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker
from hopweave.stages.diversify.community_spread import CommunitySpread


@derived(CommunitySpread)
class CommunitySpreadRanker(KnowledgeRanker):
    """
    Score = score * multiplier for the best document of each community; the others of the community stay.

    Nothing happens unless there are at least `min_hits` documents. The community is read from the metadata, else asked
    of the knowledge base. Documents without a community or without a score stay as they are.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CommunitySpreadRanker

    ranker = CommunitySpreadRanker(multiplier=1.1)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"community": "ferries"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """
