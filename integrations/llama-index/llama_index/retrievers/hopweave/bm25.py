"""Nodes that say the words of the question, rare words first."""

from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.text.bm25 import Bm25


class Bm25Retriever(SourceRetriever):
    """
    Ranks by BM25 over the terms of the question. Never returns a node that says none of them.

    Takes the parameters of `hopweave.text.bm25.Bm25` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import Bm25Retriever

        nodes = Bm25Retriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = Bm25
