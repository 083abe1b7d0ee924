# Written by `make fix`.
from pathlib import Path
from typing import Any, Literal

from haystack.dataclasses.document import Document
from haystack.utils.auth import Secret

from haystack_integrations.components.embedders.hopweave.core_embedder import CoreDocumentEmbedder, CoreTextEmbedder
from haystack_integrations.components.embedders.hopweave.graph_embedder import TrainedEmbedder
from haystack_integrations.components.embedders.hopweave.remote_embedder import EmbedderWithKey

class GraphDocumentEmbedder(TrainedEmbedder, CoreDocumentEmbedder):
    r"""
    Documents with their vectors, made of title and content by the same model as `GraphTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import GraphDocumentEmbedder

    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = GraphDocumentEmbedder(knowledge_base="trained.db").run(documents=[document])["documents"]
    ```
    """

    def __init__(self, *, knowledge_base: str | Path) -> None:
        r"""
        Create the embedder; the file is read on first use.

        :param knowledge_base: Path of the knowledge base file.
        """
    def run(self, documents: list[Document]) -> dict[str, Any]:
        r"""
        Embed documents.

        :param documents: The documents.
        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """

class GraphTextEmbedder(TrainedEmbedder, CoreTextEmbedder):
    r"""
    The vector of a question by the embedder that `hopweave train-embedder` trained on the graph of a file.

    ```python
    from haystack_integrations.components.embedders.hopweave import GraphTextEmbedder

    embedder = GraphTextEmbedder(knowledge_base="trained.db")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """

    def __init__(self, *, knowledge_base: str | Path) -> None:
        r"""
        Create the embedder; the file is read on first use.

        :param knowledge_base: Path of the knowledge base file.
        """
    def run(self, text: str) -> dict[str, Any]:
        r"""
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """

class OnnxDocumentEmbedder(CoreDocumentEmbedder):
    r"""
    Documents with their vectors, made of title and content by the same model as `OnnxTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import OnnxDocumentEmbedder

    embedder = OnnxDocumentEmbedder(model="models/multilingual-e5-small", document_prompt="passage: ")
    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = embedder.run(documents=[document])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        model: str,
        tokenizer: str | None = None,
        pooling: Literal["mean", "cls"] | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        max_tokens: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param model: Folder with model and tokenizer, or the model's .onnx file.
        :param tokenizer: File tokenizer.json, or its folder; beside the model if not given.
        :param pooling: How the vectors of tokens become one: their mean, or that of the first token; as the model's
            1_Pooling/config.json says if not given, else mean.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's configuration
            says, or else as its family is known to need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param max_tokens: Longer texts are embedded by their beginning; the model's own limit if not given.
        :param batch_size: Texts per forward pass; texts of similar length go together.
        :param threads: Threads per forward pass; one per core if not given.
        """
    def run(self, documents: list[Document]) -> dict[str, Any]:
        r"""
        Embed documents.

        :param documents: The documents.
        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """

class OnnxTextEmbedder(CoreTextEmbedder):
    r"""
    The vector of a question by a model in ONNX format, from a folder on this machine; needs `hopweave[onnx]`.

    ```python
    from haystack_integrations.components.embedders.hopweave import OnnxTextEmbedder

    embedder = OnnxTextEmbedder(model="models/multilingual-e5-small", query_prompt="query: ")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """

    def __init__(
        self,
        *,
        model: str,
        tokenizer: str | None = None,
        pooling: Literal["mean", "cls"] | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        max_tokens: int | None = None,
        batch_size: int = 16,
        threads: int | None = None,
    ) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param model: Folder with model and tokenizer, or the model's .onnx file.
        :param tokenizer: File tokenizer.json, or its folder; beside the model if not given.
        :param pooling: How the vectors of tokens become one: their mean, or that of the first token; as the model's
            1_Pooling/config.json says if not given, else mean.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's configuration
            says, or else as its family is known to need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param max_tokens: Longer texts are embedded by their beginning; the model's own limit if not given.
        :param batch_size: Texts per forward pass; texts of similar length go together.
        :param threads: Threads per forward pass; one per core if not given.
        """
    def run(self, text: str) -> dict[str, Any]:
        r"""
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """

class RemoteDocumentEmbedder(EmbedderWithKey, CoreDocumentEmbedder):
    r"""
    Documents with their vectors, made of title and content by the same service as `RemoteTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import RemoteDocumentEmbedder

    embedder = RemoteDocumentEmbedder(provider="gemini", dimensions=768)
    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = embedder.run(documents=[document])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        provider: Literal["openai", "gemini"] = "openai",
        model: str | None = None,
        url: str | None = None,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        deadline_seconds: float = 20.0,
        max_retries: int = 2,
        batch_size: int = 64,
        api_key: Secret | None = None,
    ) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param provider: Format of request and reply.
        :param model: Model; the provider's default if not given.
        :param url: URL of the endpoint; the provider's own if not given.
        :param dimensions: How many numbers a vector shall have; as many as the model has if not given.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's family is known
            to need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param deadline_seconds: Hard limit for all attempts of one request together.
        :param max_retries: Further attempts after 429, 5xx or a broken connection.
        :param batch_size: Texts per request.
        :param api_key: The key; that in the provider's usual environment variable if neither this nor `url` is
            given.
        """
    def run(self, documents: list[Document]) -> dict[str, Any]:
        r"""
        Embed documents.

        :param documents: The documents.
        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """

class RemoteTextEmbedder(EmbedderWithKey, CoreTextEmbedder):
    r"""
    The vector of a question by a service: OpenAI's `/embeddings`, Gemini, or your own server; needs `hopweave[remote]`.

    After 429, 5xx or a broken connection it tries again, within a deadline. The key is never written, logged or shown.

    ```python
    from haystack_integrations.components.embedders.hopweave import RemoteTextEmbedder

    embedder = RemoteTextEmbedder(url="http://localhost:8000/v1/embeddings", model="bge-m3")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """

    def __init__(
        self,
        *,
        provider: Literal["openai", "gemini"] = "openai",
        model: str | None = None,
        url: str | None = None,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        deadline_seconds: float = 20.0,
        max_retries: int = 2,
        batch_size: int = 64,
        api_key: Secret | None = None,
    ) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param provider: Format of request and reply.
        :param model: Model; the provider's default if not given.
        :param url: URL of the endpoint; the provider's own if not given.
        :param dimensions: How many numbers a vector shall have; as many as the model has if not given.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's family is known
            to need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param deadline_seconds: Hard limit for all attempts of one request together.
        :param max_retries: Further attempts after 429, 5xx or a broken connection.
        :param batch_size: Texts per request.
        :param api_key: The key; that in the provider's usual environment variable if neither this nor `url` is
            given.
        """
    def run(self, text: str) -> dict[str, Any]:
        r"""
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """

class StaticDocumentEmbedder(CoreDocumentEmbedder):
    r"""
    Documents with their vectors, made of title and content by the same model as `StaticTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder

    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = StaticDocumentEmbedder().run(documents=[document])["documents"]
    ```
    """

    def __init__(self, *, max_characters: int = 20000) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param max_characters: Longer texts are embedded by their beginning.
        """
    def run(self, documents: list[Document]) -> dict[str, Any]:
        r"""
        Embed documents.

        :param documents: The documents.
        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """

class StaticTextEmbedder(CoreTextEmbedder):
    r"""
    The vector of a text: the mean of static token vectors (WordLlama), whose weights arrive with the package.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    ```
    """

    def __init__(self, *, max_characters: int = 20000) -> None:
        r"""
        Create the embedder; what it needs is loaded on first use.

        :param max_characters: Longer texts are embedded by their beginning.
        """
    def run(self, text: str) -> dict[str, Any]:
        r"""
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """

__all__ = [
    "GraphDocumentEmbedder",
    "GraphTextEmbedder",
    "OnnxDocumentEmbedder",
    "OnnxTextEmbedder",
    "RemoteDocumentEmbedder",
    "RemoteTextEmbedder",
    "StaticDocumentEmbedder",
    "StaticTextEmbedder",
]
