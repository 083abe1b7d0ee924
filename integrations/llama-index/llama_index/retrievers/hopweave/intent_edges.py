"""Nodes along the edges that suit what the question is after."""

from llama_index.retrievers.hopweave.graph import GraphRetriever

from hopweave.sources.intent_edges import IntentEdges


class IntentEdgesRetriever(GraphRetriever):
    """
    Nodes that the best of other retrievers reach over the edge types that suit what the question is after.

    Takes the parameters of `hopweave.sources.intent_edges.IntentEdges` beside those of `GraphRetriever`. It goes by the
    intent, so it needs `intent`.

    Examples:
        ```python
        from hopweave.routing.intent import IntentClassifier
        from llama_index.retrievers.hopweave import IntentEdgesRetriever

        retriever = IntentEdgesRetriever("hopweave.db", intent=IntentClassifier())
        nodes = retriever.retrieve("How do I fix the pump?")
        ```

    """

    source_class = IntentEdges
