"""BM25: documents that say the words of the question."""

from typing import Any, ClassVar

from haystack import component

from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.text.bm25 import Bm25

_CORE = Bm25()


@component
class Bm25Retriever(SourceRetriever):
    """
    Documents by BM25 over the terms of the question.

    Terms that are keywords of the question's intent (the input `intent`, from an `IntentRouter`) count `keyword_weight`
    times. Two of these with different analyzers make a dual index: one for prose, one for code.

    ```python
    from haystack_integrations.components.retrievers.hopweave import Bm25Retriever

    retriever = Bm25Retriever(knowledge_base="hopweave.db", analyzer="nlp")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    asks: ClassVar[tuple[str, ...]] = ("intent",)

    def __init__(
        self,
        *,
        knowledge_base: str,
        analyzer: str = _CORE.analyzer,
        keyword_weight: float = _CORE.keyword_weight,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param analyzer: How text becomes terms: nlp, nlp:<language>, code or light.
        :param keyword_weight: How much a keyword of the intent counts.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = Bm25(
            analyzer=analyzer,
            keyword_weight=keyword_weight,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(self, source, knowledge_base=knowledge_base, filters=filters, tenant=tenant)
