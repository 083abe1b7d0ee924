"""BM25: documents that say the words of the question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.bm25 import BM25


@derived(BM25)
class BM25Retriever(SourceRetriever):
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

    inputs = (*SourceRetriever.inputs, INTENT)
