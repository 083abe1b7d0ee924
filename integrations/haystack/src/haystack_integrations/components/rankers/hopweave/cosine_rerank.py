"""How near the question a document is, whatever found it."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import QUERY_EMBEDDING
from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker
from hopweave.stages.rerank.cosine_rerank import CosineRerank


@derived(CosineRerank)
class CosineRerankRanker(KnowledgeRanker):
    """
    Score = (1 - blend) * original + blend * cosine(question, document), within [0, 1].

    The question's vector is the input `query_embedding`, to be connected to any text embedder, or the knowledge base
    makes it. Documents carry their embeddings, or the knowledge base has them, and must be of the same model. If there
    is no vector at all, the order stays, and log and receipts have the reason.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CosineRerankRanker

    ranker = CosineRerankRanker(blend=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query_embedding=[0.8, 0.6])["documents"]
    ```
    """

    reads_vectors = True
    inputs = (*KnowledgeRanker.inputs, QUERY_EMBEDDING)
