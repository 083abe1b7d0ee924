"""Near-duplicates step back behind everything that says something new."""

from pathlib import Path
from typing import ClassVar

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.diversify.deferral import Deferral

_CORE = Deferral()


@component
class DeferralRanker(StageRanker):
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

    reads_vectors: ClassVar[bool] = True

    def __init__(
        self,
        *,
        max_similarity: float = _CORE.max_similarity,
        candidates: int = _CORE.candidates,
        optional: bool = False,
        top_k: int | None = None,
        knowledge_base: str | Path | None = None,
    ) -> None:
        """
        Create the ranker.

        :param max_similarity: Cosine above which a document repeats a chosen one.
        :param candidates: Number of documents, from the top, to compare; the others follow in their order.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        """
        stage = Deferral(
            optional=optional,
            max_similarity=max_similarity,
            candidates=candidates,
        )
        StageRanker.__init__(self, stage, top_k=top_k, knowledge_base=knowledge_base)
