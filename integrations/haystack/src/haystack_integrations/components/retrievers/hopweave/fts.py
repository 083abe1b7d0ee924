"""SQLite's own full-text search: exact words and phrases."""

from typing import Any

from haystack import component

from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.text.fts import FullText

_CORE = FullText()


@component
class FullTextRetriever(SourceRetriever):
    """
    Documents by SQLite FTS5. Text in double quotes must occur as written; other words may.

    ```python
    from haystack_integrations.components.retrievers.hopweave import FullTextRetriever

    retriever = FullTextRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = FullText(
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(self, source, knowledge_base=knowledge_base, filters=filters, tenant=tenant)
