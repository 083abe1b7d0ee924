"""Documents along the edges that suit what the question is after."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT
from haystack_integrations.components.retrievers.hopweave.source_retriever import GraphRetriever
from hopweave.sources.intent_edges import IntentEdges


@derived(IntentEdges)
class IntentEdgesRetriever(GraphRetriever):
    """
    Documents that the best ones reach over the edge types the question's intent prefers: 1.0 along, 0.7 against.

    Each name in `seeds_from` is an input: connect any retriever to it. Without an intent (the input `intent`, from an
    `IntentRouter`), or with one that prefers no edges, there are no documents.

    ```python
    from haystack import Document
    from haystack_integrations.components.retrievers.hopweave import IntentEdgesRetriever

    retriever = IntentEdgesRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built MV Skua?", text=[Document(id="skua", score=1.0)])["documents"]
    ```
    """

    inputs = (*GraphRetriever.inputs, INTENT)
