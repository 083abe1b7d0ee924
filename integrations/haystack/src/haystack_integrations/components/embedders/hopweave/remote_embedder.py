"""Embeddings of a service on the network: OpenAI, Gemini, and what speaks like them."""

from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.settings import api_key
from haystack_integrations.components.embedders.hopweave.core_embedder import (
    CoreDocumentEmbedder,
    CoreEmbedder,
    CoreTextEmbedder,
)
from hopweave.component import Embedder
from hopweave.vector.remote_embedder import RemoteEmbedder


class EmbedderWithKey(CoreEmbedder):
    """Base class of embedders with a key, which is looked up when it is needed, so that a pipeline loads without it."""

    settings = (api_key("OPENAI_API_KEY"),)

    api_key: Secret | None

    @property
    def embedder(self) -> Embedder:
        """The embedder of the core."""
        return self._embedder.changed(api_key=self.api_key.resolve_value()) if self.api_key else self._embedder

    def warm_up(self) -> None:
        """Nothing to load."""


@derived(RemoteEmbedder, without=("api_key", "api_key_env"))
class RemoteTextEmbedder(EmbedderWithKey, CoreTextEmbedder):
    """
    The vector of a question by a service: OpenAI's `/embeddings`, Gemini, or your own server; needs `hopweave[remote]`.

    After 429, 5xx or a broken connection it tries again, within a deadline. The key is never written, logged or shown.

    ```python
    from haystack_integrations.components.embedders.hopweave import RemoteTextEmbedder

    embedder = RemoteTextEmbedder(url="http://localhost:8000/v1/embeddings", model="bge-m3")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@derived(RemoteEmbedder, without=("api_key", "api_key_env"))
class RemoteDocumentEmbedder(EmbedderWithKey, CoreDocumentEmbedder):
    """
    Documents with their vectors, made of title and content by the same service as `RemoteTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import RemoteDocumentEmbedder

    embedder = RemoteDocumentEmbedder(provider="gemini", dimensions=768)
    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = embedder.run(documents=[document])["documents"]
    ```
    """
