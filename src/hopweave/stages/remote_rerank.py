"""Reranking by a service on the network, which may be slow, wrong or away."""

import asyncio
import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from hopweave.component import Knowledge, Stage
from hopweave.document import Document
from hopweave.errors import HopweaveError
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import checked, ranked
from hopweave.stages.hit_vectors import unit_vectors
from hopweave.stages.rerank_call import Outcome, Request, post, post_async
from hopweave.stages.rerank_providers import PROVIDERS, BadReply, Reply, ReplyScale, read_reply, request_body
from hopweave.stages.unit_scores import unit_scores

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """The hits, which of them are sent, and the request; or the outcome, if nothing can be sent."""

    hits: list[Hit]
    sent: list[int]
    request: Request | Outcome


class RemoteRerank(Stage):
    """Asks a rerank service and blends its scores with the original ones; without an answer, carries on.

    score = blend * reranked + (1 - blend) * original, with originals on [0, 1]. Hits the service did not return, or
    was not asked about, get `unreturned_factor` * original. If the service fails or misses the deadline:
    (1 - cosine_share) * original + cosine_share * cosine(question, hit), as far as there are vectors, else the
    order and scores as they were. A hit without an original score takes what there is. Receipts say what happened
    and why. Needs the extra `hopweave[remote]`.

    The key comes from the environment variable `api_key_env`; it is never written, logged or shown.

    >>> RemoteRerank(provider="pinecone", api_key="secret")
    RemoteRerank(kind='remote_rerank', provider='pinecone', model=None, url=None, api_key_env=None, \
timeout_seconds=5.0, max_retries=2, candidates=50, blend=0.6, unreturned_factor=0.8, cosine_share=0.3, \
include_title=True, reply_scale=None, parameters={})
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    kind: Literal["remote_rerank"] = "remote_rerank"
    provider: Literal["jina", "siliconflow", "pinecone", "generic"] = Field(
        "jina", description="Whose request and reply shape to speak; generic is the common /rerank shape."
    )
    model: str | None = Field(None, description="Model name; the provider's usual one when not given.")
    url: str | None = Field(
        None, validate_default=True, description="Address to post to; the provider's own when not given."
    )
    api_key_env: str | None = Field(
        None, description="Environment variable with the key; the provider's usual one when not given."
    )
    api_key: SecretStr | None = Field(None, exclude=True, repr=False, description="The key itself; never written out.")
    timeout_seconds: float = Field(5.0, gt=0, le=600, description="Hard limit for all attempts together.")
    max_retries: int = Field(2, ge=0, le=10, description="Further attempts after 429, 5xx or a broken connection.")
    candidates: int = Field(50, ge=1, description="How many hits, from the top, are sent.")
    blend: float = Field(0.6, ge=0, le=1, description="Share of the service's score; the rest is the original score.")
    unreturned_factor: float = Field(0.8, ge=0, le=1, description="Factor for hits that the service did not return.")
    cosine_share: float = Field(0.3, ge=0, le=1, description="Share of the cosine when the service fails.")
    include_title: bool = Field(True, description="Send the title in the metadata, too.")
    reply_scale: ReplyScale | None = Field(
        None, description="What the service's scores mean (unit, logit or auto); known for each provider but generic."
    )
    parameters: dict[str, Any] = Field(default_factory=dict, description="Further fields of the request body.")

    @model_validator(mode="before")
    @classmethod
    def _hide_key(cls, data: Any) -> Any:
        # before anything is checked: an error must not quote a key of the wrong type
        if isinstance(data, dict) and not isinstance(data.get("api_key"), SecretStr | None):
            key = data["api_key"]
            return {**data, "api_key": SecretStr(key.decode() if isinstance(key, bytes) else str(key))}
        return data

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url is None:
            if info.data.get("provider") == "generic":
                raise ValueError("provider 'generic' needs the address of its rerank endpoint")
            return None
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("an address starts with http:// or https:// and a host")
        if parts.username or parts.password:
            raise ValueError("an address must not hold a user name or password; use api_key_env")
        return url

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """Rerank hits by the service's answer."""
        job = self._prepare(hits, query)
        outcome = post(job.request) if isinstance(job.request, Request) else job.request
        return self._finish(job, outcome, query, knowledge)

    async def apply_async(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """The same without blocking the event loop; a cancelled call ends its request."""
        job = self._prepare(hits, query)
        outcome = await post_async(job.request) if isinstance(job.request, Request) else job.request
        return await asyncio.to_thread(self._finish, job, outcome, query, knowledge)

    def _prepare(self, hits: Sequence[Hit], query: Query) -> _Job:
        """Which hits to send and how. Hits without text stay here: services refuse empty documents."""
        hits = checked(hits)
        provider = PROVIDERS[self.provider]
        texts = [
            Document(hit.id, hit.text, hit.metadata).searchable if self.include_title else hit.text for hit in hits
        ]
        sent = [place for place, text in enumerate(texts) if text.strip()][: self.candidates]
        key = self._key()
        if not sent or not query.text.strip():
            return _Job(hits, sent, Outcome(reason="nothing to send: no text in the question or in the hits"))
        if key is None and provider.key_env is not None:
            name = self.api_key_env or provider.key_env
            return _Job(hits, sent, Outcome(reason=f"no key: the environment variable {name} is not set"))
        body = request_body(provider, self.model or provider.model, query.text, [texts[place] for place in sent])
        auth = {} if key is None else {provider.auth_header: provider.auth_form.format(key=key)}
        return _Job(
            hits,
            sent,
            Request(
                self.url or provider.url or "",
                {**body, **self.parameters},
                {**provider.headers, **auth},
                self.timeout_seconds,
                self.max_retries,
            ),
        )

    def _key(self) -> str | None:
        if self.api_key is not None:
            return self.api_key.get_secret_value().strip() or None
        name = self.api_key_env or PROVIDERS[self.provider].key_env
        return (os.environ.get(name, "").strip() or None) if name else None

    def _finish(self, job: _Job, outcome: Outcome, query: Query, knowledge: Knowledge | None) -> list[Hit]:
        if not job.hits:
            return []
        reason = outcome.reason
        if reason is None:
            try:
                reply = read_reply(PROVIDERS[self.provider], outcome.payload, len(job.sent), self.reply_scale)
                return self._blended(job, reply, outcome.attempts)
            except BadReply as fault:
                reason = str(fault)
        details: dict[str, Any] = {"provider": self.provider, "reason": reason, "attempts": outcome.attempts}
        cosines = _cosines(job.hits, query, knowledge)
        fallback = "original_order" if cosines is None else "cosine"
        logger.warning("rerank by %s failed (%s); falling back to %s", self.provider, reason, fallback)
        if cosines is None:
            return [hit.rescored(hit.score, self.kind, outcome=fallback, **details) for hit in job.hits]
        return self._by_cosine(job.hits, cosines, details)

    def _blended(self, job: _Job, reply: Reply, attempts: int) -> list[Hit]:
        model = self.model or PROVIDERS[self.provider].model
        details: dict[str, Any] = {"provider": self.provider, "model": model, "attempts": attempts}
        if reply.ignored:
            details["ignored_entries"] = reply.ignored
        found = {job.sent[index]: score for index, score in reply.scores.items()}
        sent = set(job.sent)
        blended = []
        for place, (hit, original) in enumerate(zip(job.hits, unit_scores(job.hits), strict=True)):
            score: float | None
            if place in found:
                outcome, score = "reranked", _mix(found[place], original, self.blend)
            else:
                outcome = "unreturned" if place in sent else "not_sent"
                score = None if original is None else self.unreturned_factor * original
            blended.append(
                hit.rescored(
                    score,
                    self.kind,
                    scale="unit",
                    outcome=outcome,
                    reranked=found.get(place),
                    original=original,
                    **details,
                )
            )
        return ranked(blended)

    def _by_cosine(self, hits: Sequence[Hit], cosines: Sequence[float | None], details: dict[str, Any]) -> list[Hit]:
        return ranked(
            hit.rescored(
                original if cosine is None else min(max(_mix(cosine, original, self.cosine_share), 0.0), 1.0),
                self.kind,
                scale="unit",
                outcome="cosine",
                cosine=cosine,
                original=original,
                **details,
            )
            for hit, original, cosine in zip(hits, unit_scores(hits), cosines, strict=True)
        )


def _mix(new: float, original: float | None, share: float) -> float:
    return new if original is None else share * new + (1 - share) * original


def _cosines(hits: Sequence[Hit], query: Query, knowledge: Knowledge | None) -> list[float | None] | None:
    """Cosine of each hit to the question, None where a vector is missing; None if there is not a single one."""
    try:
        question = query.vector
        if question is None and knowledge is not None:
            question = knowledge.embed(query.text)[1]
        if question is None:
            return None
        vectors = unit_vectors(hits, knowledge, dimension=len(question))
    except HopweaveError:
        return None
    length = float(np.linalg.norm(question))
    if not np.isfinite(length) or length == 0 or not vectors.known.any():
        return None
    return [
        float(cosine) if keeper is not None else None
        for cosine, keeper in zip(vectors.rows @ (question / length), vectors.kept_by, strict=True)
    ]
