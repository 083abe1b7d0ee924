"""BM25: documents that say the words of the question."""

from pathlib import Path
from typing import Any

from haystack import component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.components.retrievers.hopweave.intent_retriever import IntentRetriever
from hopweave.sources.bm25 import BM25

_CORE = BM25()


@component
class BM25Retriever(IntentRetriever):
    """
    Documents by BM25 over the terms of the question.

    Terms that are keywords of the question's intent (the input `intent`, from an `IntentRouter`) count `keyword_weight`
    times. Two of these with different analyzers make a dual index: one for prose, one for code.

    ```python
    from haystack_integrations.components.retrievers.hopweave import BM25Retriever

    retriever = BM25Retriever(knowledge_base="hopweave.db", analyzer="nlp")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        analyzer: str = _CORE.analyzer,
        keyword_weight: float = _CORE.keyword_weight,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param analyzer: How text becomes terms: nlp, nlp:<language>, code or light.
        :param keyword_weight: Weight of a keyword of the intent.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = BM25(
            analyzer=analyzer,
            keyword_weight=keyword_weight,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        IntentRetriever.__init__(
            self,
            source,
            knowledge_base=knowledge_base,
            document_store=document_store,
            filters=filters,
            filter_policy=filter_policy,
            tenant=tenant,
        )
