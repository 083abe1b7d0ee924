"""The second hop: passages that share no word with the question."""

from llama_index.retrievers.hopweave.graph import GraphRetriever

from hopweave.sources.pagerank import PageRank


class PageRankRetriever(GraphRetriever):
    """
    Ranks passages by personalised PageRank from the entities that the question names.

    Takes the parameters of `hopweave.sources.pagerank.PageRank` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import PageRankRetriever

        nodes = PageRankRetriever("hopweave.db", similarity_top_k=5).retrieve("Who designed the Skua?")
        ```

    """

    source_class = PageRank
