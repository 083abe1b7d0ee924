"""Cosine search with a vector that a Haystack embedder made of the question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import FILTERS, GIVEN_EMBEDDING, OVERRIDES, SKIP, TENANT, TOP_K
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.vector_search import VectorSearch


@derived(VectorSearch)
class EmbeddingRetriever(SourceRetriever):
    """
    Documents by cosine between their vector and one that a Haystack embedder made of the question.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder
    from haystack_integrations.components.retrievers.hopweave import EmbeddingRetriever

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    retriever = EmbeddingRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query_embedding=embedding)["documents"]
    ```
    """

    inputs = (GIVEN_EMBEDDING, FILTERS, TOP_K, TENANT, OVERRIDES, SKIP)
