"""Documents next to the best ones: near in the graph, or along the edges that suit the intent."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT
from haystack_integrations.components.retrievers.hopweave.source_retriever import GraphRetriever
from hopweave.sources.graph_boost import GraphBoost


@derived(GraphBoost)
class GraphBoostRetriever(GraphRetriever):
    """
    Documents near the best ones of other retrievers, and central in the graph: 0.7 · proximity + 0.3 · PageRank.

    Each name in `seeds_from` is an input: connect any retriever to it. For the intents in `two_hop_intents` (the input
    `intent`, from an `IntentRouter`) a second hop counts as well.

    ```python
    from haystack import Document
    from haystack_integrations.components.retrievers.hopweave import GraphBoostRetriever

    retriever = GraphBoostRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built MV Skua?", text=[Document(id="skua", score=1.0)])["documents"]
    ```
    """

    inputs = (*GraphRetriever.inputs, INTENT)
