"""SQLite's own full-text search: exact words and phrases."""

from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.sources.full_text import FullText


class FullTextRetriever(SourceRetriever):
    """
    Ranks by SQLite FTS5. Text in double quotes must occur as written; other words may.

    Takes the parameters of `hopweave.sources.full_text.FullText` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import FullTextRetriever

        nodes = FullTextRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = FullText
