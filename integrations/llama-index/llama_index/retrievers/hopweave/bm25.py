"""Nodes that say the words of the question, rare words first."""

from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.sources.bm25 import BM25


class BM25Retriever(SourceRetriever):
    """
    Ranks by BM25 over the terms of the question. Never returns a node that says none of them.

    Takes the parameters of `hopweave.sources.bm25.BM25` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import BM25Retriever

        nodes = BM25Retriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = BM25
