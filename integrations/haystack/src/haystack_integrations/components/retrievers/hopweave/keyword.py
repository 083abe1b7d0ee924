"""The better of two text paths: BM25 and full-text search."""

from pathlib import Path
from typing import Any

from haystack import component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.components.retrievers.hopweave.intent_retriever import IntentRetriever
from hopweave.sources.keyword import Keyword

_CORE = Keyword()


@component
class KeywordRetriever(IntentRetriever):
    """
    Score = max(BM25, FTS5), each brought to [0, 1] over its own documents.

    ```python
    from haystack_integrations.components.retrievers.hopweave import KeywordRetriever

    retriever = KeywordRetriever(knowledge_base="hopweave.db")
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
        :param analyzer: Analyzer of BM25.
        :param keyword_weight: Weight of a keyword of the intent in BM25.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = Keyword(
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
