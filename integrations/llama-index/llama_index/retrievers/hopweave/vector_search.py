"""Nodes whose vectors are near that of the question."""

from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.sources.vector_search import VectorSearch


class VectorSearchRetriever(SourceRetriever):
    """
    Ranks by cosine between the vectors of nodes and question. The knowledge base's embedder embeds the question.

    Takes the parameters of `hopweave.sources.vector_search.VectorSearch` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import VectorSearchRetriever

        nodes = VectorSearchRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = VectorSearch
