"""What the rerank services expect and what they answer, as data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from hopweave.errors import HopweaveError
from hopweave.scores import sigmoid

ReplyScale = Literal["unit", "logit", "auto"]


class BadReply(HopweaveError):
    """A rerank service answered something that cannot be used."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One rerank service: where it is, how it wants key and documents, and where its scores are.

    `scale` says what its scores mean: unit (clamped to [0, 1]), logit, or auto: logits if any lies outside [0, 1].
    """

    url: str | None
    model: str | None
    key_env: str | None
    auth_header: str = "Authorization"
    auth_form: str = "Bearer {key}"
    headers: Mapping[str, str] = field(default_factory=dict)
    documents: Literal["texts", "objects"] = "texts"
    results: tuple[str, ...] = ("results",)
    score: tuple[str, ...] = ("relevance_score",)
    scale: ReplyScale = "unit"


PROVIDERS: Mapping[str, Provider] = {
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
    "generic": Provider(
        None, None, None, results=("results", "data"), score=("relevance_score", "score"), scale="auto"
    ),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """Scores in [0, 1] by position of the document, and how many entries of the reply made no sense."""

    scores: Mapping[int, float]
    ignored: int = 0


def request_body(provider: Provider, model: str | None, question: str, texts: Sequence[str]) -> dict[str, Any]:
    """What to post: question, documents in the provider's form, and a request for all of them without their texts.

    >>> request_body(PROVIDERS["pinecone"], "m", "ferries?", ["The Skua sails."])["documents"]
    [{'text': 'The Skua sails.'}]
    """
    documents = [_encodable(text) for text in texts]
    body: dict[str, Any] = {
        "query": _encodable(question),
        "documents": documents if provider.documents == "texts" else [{"text": text} for text in documents],
        "top_n": len(texts),
        "return_documents": False,
    }
    return body if model is None else {"model": model, **body}


def read_reply(provider: Provider, payload: object, count: int, scale: ReplyScale | None = None) -> Reply:
    """The scores in a reply to a request with `count` documents.

    Entries with a position that is out of range, repeated or no integer, or with a score that is no finite number,
    are ignored and counted.

    >>> read_reply(PROVIDERS["jina"], {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 7}]}, 2)
    Reply(scores={1: 0.9}, ignored=1)
    """
    entries = _first(payload, provider.results)
    if not isinstance(entries, list):
        raise BadReply(f"the reply has no list {' or '.join(provider.results)}")
    scores: dict[int, float] = {}
    for entry in entries:
        place, score = _first(entry, ("index",)), _first(entry, provider.score)
        if type(place) is int and 0 <= place < count and place not in scores and _is_finite_number(score):
            scores[place] = float(score)
    if not scores:
        raise BadReply(f"the reply has no usable entry among {len(entries)}")
    return Reply(_as_unit(scores, scale or provider.scale), len(entries) - len(scores))


def _encodable(text: str) -> str:
    """The text without lone surrogates: one damaged passage must not spoil the whole request."""
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


def _as_unit(scores: Mapping[int, float], scale: ReplyScale) -> dict[int, float]:
    outside = any(not 0 <= score <= 1 for score in scores.values())
    if scale == "logit" or (scale == "auto" and outside):
        return {place: sigmoid(score) for place, score in scores.items()}
    return {place: min(max(score, 0.0), 1.0) for place, score in scores.items()}
