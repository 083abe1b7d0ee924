"""An embedder behind an address: OpenAI, Gemini, and services with the same request formats."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, SecretStr, field_validator, model_validator

from hopweave.component import Embedder
from hopweave.errors import EmbeddingError
from hopweave.hit import Vector
from hopweave.remote import Request, checked_url, hidden_key, key_of, post
from hopweave.vector.embedders import Matrix, without_surrogates
from hopweave.vector.prompts import prompt_for


@dataclass(frozen=True, slots=True)
class Asked:
    """Texts to embed: as questions or as documents, by a model, with as many dimensions as wanted."""

    texts: Sequence[str]
    model: str
    dimensions: int | None = None
    queries: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """One format of embedding services: its address, in which `{model}` is the model, its key, request and reply.

    `vectors` returns the vectors of a reply in the order of the texts, as the service wrote them.
    """

    url: str
    model: str
    key_env: str
    auth_header: str
    auth_form: str
    body: Callable[[Asked], dict[str, Any]]
    vectors: Callable[[Any, int], list[Any]]


def _openai_body(asked: Asked) -> dict[str, Any]:
    size = {} if asked.dimensions is None else {"dimensions": asked.dimensions}
    return {"model": asked.model, "input": list(asked.texts), "encoding_format": "float", **size}


def _openai_vectors(reply: Mapping[str, Any], count: int) -> list[Any]:
    """By the index of each entry: some services answer in another order."""
    entries = {entry["index"]: entry["embedding"] for entry in reply["data"]}
    return [entries[place] for place in range(count)]


def _gemini_body(asked: Asked) -> dict[str, Any]:
    size = {} if asked.dimensions is None else {"outputDimensionality": asked.dimensions}
    shared = {
        "model": f"models/{asked.model}",
        "taskType": "RETRIEVAL_QUERY" if asked.queries else "RETRIEVAL_DOCUMENT",
        **size,
    }
    return {"requests": [{**shared, "content": {"parts": [{"text": text}]}} for text in asked.texts]}


def _gemini_vectors(reply: Mapping[str, Any], count: int) -> list[Any]:  # noqa: ARG001 - the shape of both
    return [entry["values"] for entry in reply["embeddings"]]


SERVICES: dict[str, EmbeddingService] = {
    "openai": EmbeddingService(
        "https://api.openai.com/v1/embeddings",
        "text-embedding-3-small",
        "OPENAI_API_KEY",
        "Authorization",
        "Bearer {key}",
        _openai_body,
        _openai_vectors,
    ),
    "gemini": EmbeddingService(
        "https://generativelanguage.googleapis.com/v1beta/models/{model}:batchEmbedContents",
        "gemini-embedding-001",
        "GEMINI_API_KEY",
        "x-goog-api-key",
        "{key}",
        _gemini_body,
        _gemini_vectors,
    ),
}
"""Embedding services by name. Most others, hosted or your own (vLLM, TEI, Ollama, LiteLLM), speak `openai`."""


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
        return Request(url, body, auth, self.deadline_seconds, self.max_retries)

    def _failed(self, reason: str) -> EmbeddingError:
        return EmbeddingError(f"embedder {self.model_name!r} ({self.provider}): {reason}")


def read_vectors(service: EmbeddingService, payload: object, count: int, dimensions: int | None) -> list[Vector]:
    """The vectors in a reply to a request with `count` texts; an error says what is wrong, and never quotes the reply.

    >>> reply = {"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}
    >>> [vector.tolist() for vector in read_vectors(SERVICES["openai"], reply, 2, None)]
    [[1.0, 0.0], [0.0, 1.0]]
    """
    try:
        rows = service.vectors(payload, count)
        vectors = [np.array([_finite(number) for number in row], np.float32) for row in rows]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise EmbeddingError(f"the reply does not have one vector of finite numbers for each of {count} texts") from (
            None if isinstance(error, EmbeddingError) else error
        )
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != count or len(sizes) != 1 or 0 in sizes:
        raise EmbeddingError(f"the reply has {len(vectors)} vectors of {_listed(sizes)} numbers for {count} texts")
    if dimensions is not None and sizes != {dimensions}:
        raise EmbeddingError(f"the reply has vectors of {_listed(sizes)} numbers, not of {dimensions} as asked for")
    return vectors


def _finite(number: object) -> float:
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError("not a finite number")
    return float(number)


def _listed(sizes: set[int]) -> str:
    return " and ".join(str(size) for size in sorted(sizes)) or "no"
