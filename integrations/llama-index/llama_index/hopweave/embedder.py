"""LlamaIndex embedding models at work in a knowledge base."""

from llama_index.core.embeddings import BaseEmbedding

from hopweave.component import Embedder
from hopweave.vector.embedders import CallableEmbedder


def to_embedder(embed_model: BaseEmbedding | Embedder) -> Embedder:
    """
    The embedding model as one that a knowledge base can be opened with.

    ```python
    from hopweave import KnowledgeBase
    from llama_index.core import MockEmbedding
    from llama_index.hopweave import to_embedder

    kb = KnowledgeBase.open(embedder=to_embedder(MockEmbedding(8)))
    ```

    Args:
        embed_model: Any LlamaIndex embedding model; an embedder of hopweave's own stays what it is.

    Returns:
        An embedder under the model's name, so that vectors of different models never meet.

    """
    own = embed_model if isinstance(embed_model, Embedder) else getattr(embed_model, "embedder", None)
    if isinstance(own, Embedder):
        return own
    return CallableEmbedder(name=embed_model.model_name, function=embed_model.get_text_embedding_batch)
