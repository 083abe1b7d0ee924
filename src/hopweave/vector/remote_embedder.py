"""An embedder behind an address: OpenAI, Gemini, and services with the same request formats."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_validator, model_validator

from hopweave.component import Embedder
from hopweave.errors import EmbeddingError
from hopweave.hit import Vector
from hopweave.remote.endpoint import checked_url, hidden_key, key_of
from hopweave.remote.http_call import Request, post
from hopweave.vector.embedders import Matrix, without_surrogates
from hopweave.vector.embedding_services import SERVICES, Asked, read_vectors
from hopweave.vector.prompts import prompt_for


class RemoteEmbedder(Embedder):
    """Embeddings of a service on the network. Needs the extra `hopweave[remote]`.

    `openai` is the format of `POST /embeddings`, which most services and servers of your own (vLLM, Ollama, TEI) speak;
    `gemini` is that of `batchEmbedContents`, which treats questions and documents differently by itself. After 429, 5xx
    or a broken connection it tries again, as `Retry-After` says if it does; after `deadline_seconds` it fails. Put it
    in a `Cascade` before a local embedder to go on without it.

    The key is read from the environment variable `api_key_env`; it is never serialised, logged or printed, and no
    error quotes what the service said. A file that names this embedder may use the address of its provider only: what
    it stores as `url` or `api_key_env` has to be given again with `embedder=...` when it is opened.

    >>> RemoteEmbedder(provider="gemini", dimensions=256, api_key="secret").model_name
    'gemini-embedding-001 256'
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    kind: Literal["remote"] = "remote"
    provider: Literal["openai", "gemini"] = Field(default="openai", description="Format of request and reply.")
    model: str | None = Field(default=None, min_length=1, description="Model; the provider's default if not given.")
    url: str | None = Field(default=None, description="URL of the endpoint; the provider's own if not given.")
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the key; that of the provider if neither this nor `url` is given.",
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, repr=False, description="The key itself; never serialised."
    )
    dimensions: int | None = Field(
        default=None, ge=1, description="How many numbers a vector shall have; as many as the model has if not given."
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
        default=20.0, gt=0, le=600, description="Hard limit for all attempts of one request together."
    )
    max_retries: int = Field(
        default=2, ge=0, le=10, description="Further attempts after 429, 5xx or a broken connection."
    )
    batch_size: int = Field(default=64, ge=1, le=100, description="Texts per request.")

    _named_by_file: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _hide_key(cls, data: Any) -> Any:
        return hidden_key(data)

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None) -> str | None:
        return None if url is None else checked_url(url)

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model."""
        size = "" if self.dimensions is None else f" {self.dimensions}"
        prompt = "" if self.document_prompt is None else f" {self.document_prompt!r}"
        return f"{self._model}{size}{prompt}"

    @property
    def _model(self) -> str:
        return self.model or SERVICES[self.provider].model

    def named_by_file(self) -> "RemoteEmbedder":
        """The same embedder, which asks its provider only, at its usual address and with its usual key."""
        named = self.model_copy()
        named._named_by_file = True
        return named

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a document."""
        prompt = prompt_for(self._model, self.document_prompt, {}, queries=False)
        return self._embedded([prompt + text for text in texts], queries=False)

    def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """One row per text, as of a question."""
        prompt = prompt_for(self._model, self.query_prompt, {}, queries=True)
        return self._embedded([prompt + text for text in texts], queries=True)

    def _embedded(self, texts: Sequence[str], *, queries: bool) -> Matrix:
        """The vectors of texts; a text without any character but spaces, which services refuse, gives a zero row."""
        if not texts:
            return np.empty((0, 0), np.float32)
        sent = [place for place, text in enumerate(texts) if text.strip()]
        vectors: dict[int, Vector] = {}
        for first in range(0, len(sent), self.batch_size):
            places = sent[first : first + self.batch_size]
            vectors.update(zip(places, self._batch([texts[place] for place in places], queries), strict=True))
        size = len(next(iter(vectors.values()), ())) or self.dimensions or len(self._batch(["?"], queries)[0])
        if any(len(vector) != size for vector in vectors.values()):
            raise self._failed("its vectors have different numbers of dimensions")
        rows = np.zeros((len(texts), size), np.float32)
        for place, vector in vectors.items():
            rows[place] = vector
        return rows

    def _batch(self, texts: Sequence[str], queries: bool) -> list[Vector]:
        service = SERVICES[self.provider]
        asked = Asked([without_surrogates(text) for text in texts], self._model, self.dimensions, queries)
        outcome = post(self._request(service.body(asked)))
        if outcome.reason is not None:
            tried = "1 attempt" if outcome.attempts == 1 else f"{outcome.attempts} attempts"
            raise self._failed(f"{outcome.reason} ({tried})")
        try:
            return read_vectors(service, outcome.payload, len(texts), self.dimensions)
        except EmbeddingError as error:
            raise self._failed(str(error)) from None

    def _request(self, body: dict[str, Any]) -> Request:
        service = SERVICES[self.provider]
        if self._named_by_file and (self.url is not None or self.api_key_env is not None):
            raise self._failed(
                "the file names its address or key, and a file never decides where texts and keys go; "
                "open it with embedder=... to allow that"
            )
        variable = self.api_key_env or (service.key_env if self.url is None else None)
        key = key_of(self.api_key, variable)
        if key is None and variable is not None:
            raise self._failed(f"no key: the environment variable {variable} is not set")
        auth = {} if key is None else {service.auth_header: service.auth_form.format(key=key)}
        url = (self.url or service.url).replace("{model}", self._model)
        return Request(url, body, {**service.headers, **auth}, self.deadline_seconds, self.max_retries)

    def _failed(self, reason: str) -> EmbeddingError:
        return EmbeddingError(f"embedder {self.model_name!r} ({self.provider}): {reason}")
