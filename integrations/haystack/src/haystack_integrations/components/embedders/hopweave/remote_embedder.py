"""Embeddings of a service on the network: OpenAI, Gemini, and what speaks like them."""

from typing import Any, Literal

from haystack import component
from haystack.utils import Secret

from haystack_integrations.common.hopweave.parameters import written
from haystack_integrations.components.embedders.hopweave.core_embedder import (
    CoreDocumentEmbedder,
    CoreEmbedder,
    CoreTextEmbedder,
)
from hopweave.vector.remote_embedder import RemoteEmbedder

_CORE = RemoteEmbedder()


class _WithKey(CoreEmbedder):
    """An embedder with a key, which is looked up when it is needed, so that a pipeline loads without it."""

    def __init__(
        self,
        *,
        provider: Literal["openai", "gemini"] = _CORE.provider,
        model: str | None = _CORE.model,
        url: str | None = _CORE.url,
        api_key: Secret | None = None,
        dimensions: int | None = _CORE.dimensions,
        query_prompt: str | None = _CORE.query_prompt,
        document_prompt: str | None = _CORE.document_prompt,
        deadline_seconds: float = _CORE.deadline_seconds,
        max_retries: int = _CORE.max_retries,
        batch_size: int = _CORE.batch_size,
    ) -> None:
        """
        Create the embedder; the key is looked up when it is needed.

        :param provider: Format of request and reply.
        :param model: Model; the provider's default if not given.
        :param url: URL of the endpoint; the provider's own if not given.
        :param api_key: The key; that in the provider's usual environment variable if neither this nor `url` is given.
        :param dimensions: How many numbers a vector shall have; as many as the model has if not given.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's family is known to
            need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param deadline_seconds: Hard limit for all attempts of one request together.
        :param max_retries: Further attempts after 429, 5xx or a broken connection.
        :param batch_size: Texts per request.
        """
        if api_key is not None and not isinstance(api_key, Secret):
            raise ValueError(
                "api_key: must be a Secret, as Secret.from_env_var('OPENAI_API_KEY'), but got another type"
            )
        embedder = RemoteEmbedder(
            provider=provider,
            model=model,
            url=url,
            dimensions=dimensions,
            query_prompt=query_prompt,
            document_prompt=document_prompt,
            deadline_seconds=deadline_seconds,
            max_retries=max_retries,
            batch_size=batch_size,
        )
        CoreEmbedder.__init__(self, embedder)
        self.api_key = api_key

    @property
    def embedder(self) -> RemoteEmbedder:
        """The embedder of the core."""
        embedder = self._embedder
        assert isinstance(embedder, RemoteEmbedder)  # noqa: S101 - for the type checker
        return embedder.changed(api_key=self.api_key.resolve_value()) if self.api_key else embedder

    def warm_up(self) -> None:
        """Nothing to load."""

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data, with the name of the key's variable but never the key.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self._embedder, api_key=self.api_key)


@component
class RemoteTextEmbedder(_WithKey, CoreTextEmbedder):
    """
    The vector of a question by a service: OpenAI's `/embeddings`, Gemini, or your own server; needs `hopweave[remote]`.

    After 429, 5xx or a broken connection it tries again, within a deadline. The key is never written, logged or shown.

    ```python
    from haystack_integrations.components.embedders.hopweave import RemoteTextEmbedder

    embedder = RemoteTextEmbedder(url="http://localhost:8000/v1/embeddings", model="bge-m3")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@component
class RemoteDocumentEmbedder(_WithKey, CoreDocumentEmbedder):
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
