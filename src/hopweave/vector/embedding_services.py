"""Request and reply formats of embedding services."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hopweave.errors import EmbeddingError
from hopweave.hit import Vector


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
    headers: Mapping[str, str] = field(default_factory=dict)


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
