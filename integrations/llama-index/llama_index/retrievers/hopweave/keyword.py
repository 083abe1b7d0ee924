"""The better of BM25 and full-text search."""

from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.sources.keyword import Keyword


class KeywordRetriever(SourceRetriever):
    """
    Ranks by the better of two text scores, each brought to [0, 1] over its own hits.

    Takes the parameters of `hopweave.sources.keyword.Keyword` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import KeywordRetriever

        nodes = KeywordRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = Keyword
