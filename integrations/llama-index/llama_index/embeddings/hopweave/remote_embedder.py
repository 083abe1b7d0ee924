"""Embeddings of a service on the network: OpenAI, Gemini, and what speaks like them."""

from typing import Any, Literal

from llama_index.core.bridge.pydantic import ConfigDict, Field, SecretStr, model_validator
from llama_index.embeddings.hopweave.embedders import CoreEmbedding

from hopweave.remote import hidden_key
from hopweave.vector.remote_embedder import RemoteEmbedder

_CORE = RemoteEmbedder()


class RemoteEmbedding(CoreEmbedding):
    """
    Asks OpenAI's `/embeddings`, Gemini, or your own server, with retries and a deadline. Needs `hopweave[remote]`.

    Parameters are those of `hopweave.vector.remote_embedder.RemoteEmbedder`. The key comes from the environment, or
    is given; it is never written.

    Examples:
        ```python
        from llama_index.core import Settings
        from llama_index.embeddings.hopweave import RemoteEmbedding

        Settings.embed_model = RemoteEmbedding(url="http://localhost:8000/v1/embeddings", model="bge-m3")
        ```

    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    model_name: str = Field(default="", description="The name of the embedding model; the embedder's own.")
    embed_batch_size: int = Field(
        default=256, gt=0, le=2048, description="Texts per call; a request has `batch_size` of them."
    )
    provider: Literal["openai", "gemini"] = Field(default=_CORE.provider, description="Format of request and reply.")
    model: str | None = Field(default=None, description="Model; the provider's default if not given.")
    url: str | None = Field(default=None, description="URL of the endpoint; the provider's own if not given.")
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the key; that of the provider if neither this nor `url` is given.",
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, repr=False, description="The key itself; never serialised."
    )
    dimensions: int | None = Field(
        default=None, description="How many numbers a vector shall have; as many as the model has if not given."
    )
    query_prompt: str | None = Field(
        default=None,
        description="Put before a question, such as 'query: '; if not given, as the model's family is known to need "
        "(bge, e5, nomic, mxbai, arctic).",
    )
    document_prompt: str | None = Field(
        default=None, description="Put before a document, such as 'passage: '; by the same rule if not given."
    )
    deadline_seconds: float = Field(
        default=_CORE.deadline_seconds, description="Hard limit for all attempts of one request together."
    )
    max_retries: int = Field(
        default=_CORE.max_retries, description="Further attempts after 429, 5xx or a broken connection."
    )
    batch_size: int = Field(default=_CORE.batch_size, description="Texts per request.")

    @model_validator(mode="before")
    @classmethod
    def _make_embedder(cls, data: Any) -> Any:
        data = hidden_key(data)
        parameters = {name: data[name] for name in RemoteEmbedder.model_fields if name in data}
        return {**data, "embedder": RemoteEmbedder.model_validate(parameters)}

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "HopweaveRemoteEmbedding"
