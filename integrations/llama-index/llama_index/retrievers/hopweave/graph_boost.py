"""Nodes next door to what words and vectors find."""

from llama_index.retrievers.hopweave.graph import GraphRetriever

from hopweave.sources.graph_boost import GraphBoost


class GraphBoostRetriever(GraphRetriever):
    """
    Nodes near the best of other retrievers, and central in the graph.

    Takes the parameters of `hopweave.sources.graph_boost.GraphBoost` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import GraphBoostRetriever

        nodes = GraphBoostRetriever("hopweave.db", similarity_top_k=5).retrieve("Who designed the Skua?")
        ```

    """

    source_class = GraphBoost
