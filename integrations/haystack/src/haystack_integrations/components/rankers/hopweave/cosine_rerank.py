"""How near the question a document is, whatever found it."""

from pathlib import Path

from haystack import component

from haystack_integrations.components.rankers.hopweave.question_vector_ranker import QuestionVectorRanker
from hopweave.stages.rerank.cosine_rerank import CosineRerank

_CORE = CosineRerank()


@component
class CosineRerankRanker(QuestionVectorRanker):
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

    def __init__(
        self,
        *,
        blend: float = _CORE.blend,
        optional: bool = False,
        top_k: int | None = None,
        knowledge_base: str | Path | None = None,
    ) -> None:
        """
        Create the ranker.

        :param blend: Share of the cosine; the rest is the original score.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file, for what question and documents do not carry themselves.
        """
        stage = CosineRerank(
            optional=optional,
            blend=blend,
        )
        QuestionVectorRanker.__init__(self, stage, top_k=top_k, knowledge_base=knowledge_base)
