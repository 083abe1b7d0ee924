"""SQLite's own full-text search: exact words and phrases."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.full_text import FullText


@derived(FullText)
class FullTextRetriever(SourceRetriever):
    """
    Documents by SQLite FTS5. Text in double quotes must occur as written; other words may.

    ```python
    from haystack_integrations.components.retrievers.hopweave import FullTextRetriever

    retriever = FullTextRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """
