"""Request and reply formats of rerank services."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hopweave.errors import HopweaveError
from hopweave.scores import sigmoid

ReplyScale = Literal["unit", "logit"]


class BadReply(HopweaveError):
    """The reply of a rerank service cannot be used."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One rerank service: its URL, the format of key and documents, and the place of the scores in its reply.

    `scale` is the scale of its scores: unit (clamped to [0, 1]), logit, or None if it depends on the model; then a
    reply with a score outside [0, 1] is refused unless `RemoteRerank.reply_scale` gives the scale. `results` are the
    names under which the reply may hold its list; without names, the reply is the list. `parameters` are further
    fields of the body.
    """

    url: str | None
    model: str | None
    key_env: str | None
    auth_header: str = "Authorization"
    auth_form: str = "Bearer {key}"
    headers: Mapping[str, str] = field(default_factory=dict)
    documents: Literal["texts", "objects"] = "texts"
    documents_field: str = "documents"
    limit_field: str | None = "top_n"
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"return_documents": False})
    results: tuple[str, ...] = ("results",)
    score: tuple[str, ...] = ("relevance_score",)
    scale: ReplyScale | None = "unit"


PROVIDERS: dict[str, Provider] = {
    "cohere": Provider("https://api.cohere.com/v2/rerank", "rerank-v3.5", "COHERE_API_KEY", parameters={}),
    "jina": Provider("https://api.jina.ai/v1/rerank", "jina-reranker-v3", "JINA_API_KEY"),
    "siliconflow": Provider("https://api.siliconflow.com/v1/rerank", "BAAI/bge-reranker-v2-m3", "SILICONFLOW_API_KEY"),
    "pinecone": Provider(
        "https://api.pinecone.io/rerank",
        "bge-reranker-v2-m3",
        "PINECONE_API_KEY",
        auth_header="Api-Key",
        auth_form="{key}",
        headers={"X-Pinecone-Api-Version": "2025-10"},
        documents="objects",
        results=("data",),
        score=("score",),
    ),
    "voyage": Provider(
        "https://api.voyageai.com/v1/rerank", "rerank-2.5", "VOYAGE_API_KEY", limit_field="top_k", results=("data",)
    ),
    "tei": Provider(
        None,
        None,
        None,
        documents_field="texts",
        limit_field=None,
        parameters={"raw_scores": False, "return_text": False, "truncate": True},
        results=(),
        score=("score",),
    ),
    "vllm": Provider(None, None, None, parameters={}),
    "generic": Provider(None, None, None, results=("results", "data"), score=("relevance_score", "score"), scale=None),
}
"""Rerank services by name. Text Embeddings Inference (tei), vLLM and generic need an address."""


def register_provider(name: str, provider: Provider) -> None:
    """Make a rerank service of your own known to `RemoteRerank(provider=name)`.

    >>> register_provider("harbour", Provider("https://rerank.harbour.example/v1", "m", "HARBOUR_KEY"))
    >>> PROVIDERS.pop("harbour").key_env
    'HARBOUR_KEY'
    >>> register_provider("jina", Provider("https://rerank.harbour.example/v1", "m", None))
    Traceback (most recent call last):
        ...
    ValueError: provider 'jina' exists; choose another name
    """
    if PROVIDERS.setdefault(name, provider) != provider:
        raise ValueError(f"provider {name!r} exists; choose another name")


@dataclass(frozen=True, slots=True)
class Reply:
    """Scores in [0, 1] by position of the document, and the number of entries that were ignored as invalid."""

    scores: Mapping[int, float]
    ignored: int = 0


def request_body(provider: Provider, model: str | None, question: str, texts: Sequence[str]) -> dict[str, Any]:
    """The body of a request: question and documents in the format of the provider; the reply omits the texts.

    >>> request_body(PROVIDERS["pinecone"], "m", "ferries?", ["The Skua sails."])["documents"]
    [{'text': 'The Skua sails.'}]
    """
    documents: list[Any] = [_encodable(text) for text in texts]
    if provider.documents == "objects":
        documents = [{"text": text} for text in documents]
    body: dict[str, Any] = {
        "query": _encodable(question),
        provider.documents_field: documents,
        **({} if provider.limit_field is None else {provider.limit_field: len(texts)}),
        **provider.parameters,
    }
    return body if model is None else {"model": model, **body}


def read_reply(provider: Provider, payload: object, count: int, scale: ReplyScale | None = None) -> Reply:
    """The scores in a reply to a request with `count` documents.

    Entries with a position that is out of range, repeated or no integer, or with a score that is no finite number,
    are ignored and counted.

    >>> read_reply(PROVIDERS["jina"], {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 7}]}, 2)
    Reply(scores={1: 0.9}, ignored=1)
    """
    entries = _first(payload, provider.results) if provider.results else payload
    if not isinstance(entries, list):
        raise BadReply(f"the reply has no list {' or '.join(provider.results)}".rstrip())
    scores: dict[int, float] = {}
    for entry in entries:
        place, score = _first(entry, ("index",)), _first(entry, provider.score)
        if type(place) is int and 0 <= place < count and place not in scores and _is_finite_number(score):
            scores[place] = float(score)
    if not scores:
        raise BadReply(f"the reply has no usable entry among {len(entries)}")
    return Reply(_as_unit(scores, scale or provider.scale), len(entries) - len(scores))


def _encodable(text: str) -> str:
    """The text without lone surrogates, so that one damaged passage does not fail the whole request."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first(holder: object, names: Sequence[str]) -> Any:
    if not isinstance(holder, dict):
        return None
    return next((holder[name] for name in names if name in holder), None)


def _is_finite_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond any float
        return False


def _as_unit(scores: Mapping[int, float], scale: ReplyScale | None) -> dict[int, float]:
    outside = [score for score in scores.values() if not 0 <= score <= 1]
    if scale is None and outside:
        raise BadReply(f"the reply has the score {outside[0]:g}, outside [0, 1]; set reply_scale to unit or logit")
    if scale == "logit":
        return {place: sigmoid(score) for place, score in scores.items()}
    return {place: min(max(score, 0.0), 1.0) for place, score in scores.items()}
