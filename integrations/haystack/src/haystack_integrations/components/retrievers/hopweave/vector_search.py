"""Cosine search: documents that mean something close to the question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.knowledge_file import load_embedder
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.vector_search import VectorSearch


@derived(VectorSearch)
class VectorSearchRetriever(SourceRetriever):
    """
    Documents by cosine between their vector and that of the question, which the knowledge base's own embedder makes.

    Use `EmbeddingRetriever` if a Haystack embedder makes the question's vector.

    ```python
    from haystack_integrations.components.retrievers.hopweave import VectorSearchRetriever

    retriever = VectorSearchRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def warm_up(self) -> None:
        """Open the knowledge base and load its embedding model."""
        load_embedder(self._file.open())
