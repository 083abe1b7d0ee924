"""Nodes next door to what words and vectors find."""

from llama_index.retrievers.hopweave.graph import GraphRetriever

from hopweave.graph.neighbours import GraphBoost, IntentEdges


class GraphBoostRetriever(GraphRetriever):
    """
    Nodes near the best of other retrievers, and central in the graph.

    Takes the parameters of `hopweave.graph.neighbours.GraphBoost` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import GraphBoostRetriever

        nodes = GraphBoostRetriever("hopweave.db", similarity_top_k=5).retrieve("Who designed the Skua?")
        ```

    """

    source_class = GraphBoost


class IntentEdgesRetriever(GraphRetriever):
    """
    Nodes that the best of other retrievers reach over the edge types that suit what the question is after.

    Takes the parameters of `hopweave.graph.neighbours.IntentEdges` beside those of `GraphRetriever`. It goes by the
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
