"""Reranking by a remote service, with a fallback if the service fails."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from hopweave.component import Stage
from hopweave.document import Document
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.remote import HttpOutcome, Request, checked_url, hidden_key, key_of, post, post_async
from hopweave.scores import checked, ranked
from hopweave.stages.adjust.adjusted import blended, blended_with_cosines, unit_scores
from hopweave.stages.rerank.providers import PROVIDERS, BadReply, Reply, ReplyScale, read_reply, request_body
from hopweave.stages.similarity.hit_vectors import cosines_or_reason

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Job:
    """The hits, the positions of those that are sent, and the request, or the outcome if nothing can be sent."""

    hits: list[Hit]
    sent: list[int]
    request: Request | HttpOutcome


class RemoteRerank(Stage):
    """Blends the scores of a rerank service with the original ones; falls back if the service fails.

    score = blend * reranked + (1 - blend) * original, with originals on [0, 1]. Hits that were
    not sent or not returned get `unreturned_factor` * original. If the service fails or misses the deadline:
    (1 - cosine_share) * original + cosine_share * cosine(question, hit) for hits with vectors; without any vector,
    order and scores are unchanged. A hit without an original score gets the new score alone. Receipts record the
    outcome and the reason. Needs the extra `hopweave[remote]`.

    The key is read from the environment variable `api_key_env`; it is never serialised, logged or printed. That of the
    provider is sent to the provider alone: a `url` of your own gets a key only if `api_key_env` or `api_key` is given.

    >>> RemoteRerank(provider="pinecone", api_key="secret")
    RemoteRerank(kind='remote_rerank', optional=False, provider='pinecone', model=None, url=None, api_key_env=None, \
deadline_seconds=5.0, max_retries=2, candidates=50, blend=0.6, unreturned_factor=0.8, cosine_share=0.3, \
include_title=True, reply_scale=None, parameters={})
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    switch: ClassVar[str | None] = "rerank"

    kind: Literal["remote_rerank"] = "remote_rerank"
    provider: str = Field(
        default="jina",
        description="Format of request and reply: cohere, jina, pinecone, siliconflow, tei, vllm, voyage, one that was "
        "registered, or generic, the common /rerank format.",
    )
    model: str | None = Field(default=None, description="Model name; the provider's default if not given.")
    url: str | None = Field(
        default=None, validate_default=True, description="URL of the endpoint; the provider's own if not given."
    )
    api_key_env: str | None = Field(
        default=None,
        description="Environment variable with the key; that of the provider if neither this nor `url` is given.",
    )
    api_key: SecretStr | None = Field(
        default=None, exclude=True, repr=False, description="The key itself; never serialised."
    )
    deadline_seconds: float = Field(default=5.0, gt=0, le=600, description="Hard limit for all attempts together.")
    max_retries: int = Field(
        default=2, ge=0, le=10, description="Further attempts after 429, 5xx or a broken connection."
    )
    candidates: int = Field(default=50, ge=1, description="How many hits, from the top, are sent.")
    blend: float = Field(
        default=0.6, ge=0, le=1, description="Share of the service's score; the rest is the original score."
    )
    unreturned_factor: float = Field(
        default=0.8, ge=0, le=1, description="Factor for hits that the service did not return."
    )
    cosine_share: float = Field(default=0.3, ge=0, le=1, description="Share of the cosine when the service fails.")
    include_title: bool = Field(default=True, description="Whether to send the title in the metadata, too.")
    reply_scale: ReplyScale | None = Field(
        default=None,
        description="Scale of the scores (unit or logit); by default that of the provider.",
    )
    parameters: dict[str, Any] = Field(default_factory=dict, description="Additional fields of the request body.")

    @model_validator(mode="before")
    @classmethod
    def _hide_key(cls, data: Any) -> Any:
        return hidden_key(data)

    @field_validator("provider")
    @classmethod
    def _known(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError(f"{provider!r} is unknown; allowed are {', '.join(sorted(PROVIDERS))}")
        return provider

    @field_validator("url")
    @classmethod
    def _address(cls, url: str | None, info: ValidationInfo) -> str | None:
        if url is None:
            name = info.data.get("provider")
            if name in PROVIDERS and PROVIDERS[name].url is None:
                raise ValueError(f"provider {name!r} needs the URL of its rerank endpoint")
            return None
        return checked_url(url)

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """Rerank hits by the scores of the service."""
        job = self._prepare(hits, query)
        outcome = post(job.request) if isinstance(job.request, Request) else job.request
        return self._finish(job, outcome, query, knowledge)

    async def apply_async(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """The same without blocking the event loop; cancelling the call cancels the request."""
        job = self._prepare(hits, query)
        outcome = await post_async(job.request) if isinstance(job.request, Request) else job.request
        return await asyncio.to_thread(self._finish, job, outcome, query, knowledge)

    def _prepare(self, hits: Sequence[Hit], query: Query) -> _Job:
        """Select the hits to send and build the request. Hits without text are not sent, as services reject them."""
        hits = checked(hits)
        provider = PROVIDERS[self.provider]
        texts = [
            Document(hit.id, hit.text, hit.metadata).searchable if self.include_title else hit.text for hit in hits
        ]
        sent = [place for place, text in enumerate(texts) if text.strip()][: self.candidates]
        variable = self.api_key_env or (provider.key_env if self.url is None else None)
        key = key_of(self.api_key, variable)
        if not sent or not query.text.strip():
            return _Job(hits, sent, HttpOutcome(reason="nothing to send: no text in the question or in the hits"))
        if key is None and variable is not None:
            return _Job(hits, sent, HttpOutcome(reason=f"no key: the environment variable {variable} is not set"))
        body = request_body(provider, self.model or provider.model, query.text, [texts[place] for place in sent])
        auth = {} if key is None else {provider.auth_header: provider.auth_form.format(key=key)}
        return _Job(
            hits,
            sent,
            Request(
                self.url or provider.url or "",
                {**body, **self.parameters},
                {**provider.headers, **auth},
                self.deadline_seconds,
                self.max_retries,
            ),
        )

    def _finish(self, job: _Job, outcome: HttpOutcome, query: Query, knowledge: Knowledge | None) -> list[Hit]:
        if not job.hits:
            return []
        reason = outcome.reason
        if reason is None:
            try:
                reply = read_reply(PROVIDERS[self.provider], outcome.payload, len(job.sent), self.reply_scale)
                return self._blended(job, reply, outcome.attempts)
            except BadReply as error:
                reason = str(error)
        details: dict[str, Any] = {"provider": self.provider, "reason": reason, "attempts": outcome.attempts}
        cosines, _ = cosines_or_reason(job.hits, query, knowledge)
        fallback = "original_order" if cosines is None else "cosine"
        service = self.provider if self.url is None else urlsplit(self.url).hostname
        logger.warning("rerank by %s failed (%s); falling back to %s", service, reason, fallback)
        if cosines is None:
            return [hit.rescored(hit.score, self.kind, outcome=fallback, **details) for hit in job.hits]
        return blended_with_cosines(job.hits, cosines, self.cosine_share, self.kind, outcome=fallback, **details)

    def _blended(self, job: _Job, reply: Reply, attempts: int) -> list[Hit]:
        model = self.model or PROVIDERS[self.provider].model
        details: dict[str, Any] = {"provider": self.provider, "model": model, "attempts": attempts}
        if reply.ignored:
            details["ignored_entries"] = reply.ignored
        found = {job.sent[index]: score for index, score in reply.scores.items()}
        sent = set(job.sent)
        finished = []
        for place, (hit, original) in enumerate(zip(job.hits, unit_scores(job.hits), strict=True)):
            score: float | None
            if place in found:
                outcome, score = "reranked", blended(found[place], original, self.blend)
            else:
                outcome = "unreturned" if place in sent else "not_sent"
                score = None if original is None else self.unreturned_factor * original
            finished.append(
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
        return ranked(finished)
