"""LlamaIndex embedding models as embedders of a knowledge base."""

from collections.abc import Callable
from functools import partial

from llama_index.core import Settings
from llama_index.core.base.embeddings.base import Embedding
from llama_index.core.embeddings import BaseEmbedding

from hopweave.component import Embedder
from hopweave.vector.embedders import CallableEmbedder

_UNNAMED = BaseEmbedding.model_fields["model_name"].default


def to_embedder(embed_model: BaseEmbedding | Embedder) -> Embedder:
    """
    The embedding model as one that a knowledge base can be opened with.

    Questions are embedded by `get_query_embedding`, documents by `get_text_embedding_batch`.

    ```python
    from hopweave import KnowledgeBase
    from llama_index.core import MockEmbedding
    from llama_index.hopweave import to_embedder

    kb = KnowledgeBase.open(embedder=to_embedder(MockEmbedding(8)))
    ```

    Args:
        embed_model: Any LlamaIndex embedding model; an embedder of hopweave's own is returned unchanged.

    Returns:
        An embedder under the model's name, so that vectors of different models are never compared; that of a model
        without a name is the path of its class.

    """
    if isinstance(embed_model, Embedder):
        return embed_model
    own = getattr(embed_model, "embedder", None)
    if isinstance(own, Embedder):
        return own
    if not isinstance(embed_model, BaseEmbedding):
        raise ValueError(f"embed_model: must be an embedding model of LlamaIndex, but got {embed_model!r}")
    return CallableEmbedder(
        name=name_of(embed_model),
        function=partial(_embed_texts, embed_model),  # a method of LlamaIndex's is wrapped and cannot be pickled
        query_function=query_embeddings(embed_model),
    )


def name_of(embed_model: BaseEmbedding) -> str:
    """
    The name that identifies the vectors of an embedding model.

    Args:
        embed_model: The model.

    Returns:
        Its name, or the path of its class if it has none: LlamaIndex calls all of these "unknown".

    """
    if embed_model.model_name and embed_model.model_name != _UNNAMED:
        return embed_model.model_name
    return f"{type(embed_model).__module__}.{type(embed_model).__qualname__}"


def query_embeddings(embed_model: BaseEmbedding) -> Callable[[list[str]], list[Embedding]]:
    """
    The query side of an embedding model, as a function of several questions.

    Args:
        embed_model: The embedding model.

    Returns:
        A function from questions to their vectors.

    """
    return partial(_embed_questions, embed_model)


def _embed_texts(embed_model: BaseEmbedding, texts: list[str]) -> list[Embedding]:
    return embed_model.get_text_embedding_batch(texts)


def _embed_questions(embed_model: BaseEmbedding, questions: list[str]) -> list[Embedding]:
    return [embed_model.get_query_embedding(question) for question in questions]


def chosen_model(embed_model: BaseEmbedding | None) -> BaseEmbedding | None:
    """
    The embedding model to use: the given one, else that of LlamaIndex's `Settings` if one was set there.

    Args:
        embed_model: The model that was given.

    Returns:
        The model; None if neither was set. LlamaIndex's own default, which needs a key, is never taken.

    """
    return Settings._embed_model if embed_model is None else embed_model
