"""The better of two text paths: BM25 and full-text search."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.keyword import Keyword


@derived(Keyword)
class KeywordRetriever(SourceRetriever):
    """
    Score = max(BM25, FTS5), each brought to [0, 1] over its own documents.

    ```python
    from haystack_integrations.components.retrievers.hopweave import KeywordRetriever

    retriever = KeywordRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    inputs = (*SourceRetriever.inputs, INTENT)
