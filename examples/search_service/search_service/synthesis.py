"""A summary with citations: by a model at an OpenAI-compatible endpoint, or in the sources' own words."""

import asyncio
import json
import logging
from collections.abc import Sequence
from itertools import takewhile

import httpx

from hopweave import Hit
from hopweave.context.cite import citation
from hopweave.context.context_builder import ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer
from search_service.messages import Part
from search_service.settings import Synthesis

logger = logging.getLogger("search_service")

_MAX_REPLY_BYTES = 1_000_000
_EXTRACT = ExtractiveAnswer()
_CONTEXT = ContextBuilder(header="[{number}] {title} ({source})\n")


class BadReply(Exception):
    """The endpoint answered, but not with a summary that can be used."""


def extract(question: str, hits: Sequence[Hit]) -> str | None:
    """The sentences that answer the question best, each with the rank of the result it is from."""
    sources = [citation(hit, rank) for rank, hit in enumerate(hits, start=1) if hit.text.strip()]
    return _EXTRACT.answer(question, sources).text or None


class Writer:
    """Asks the endpoint. Open it in the event loop that uses it."""

    def __init__(self, settings: Synthesis) -> None:
        self._settings = settings
        self._last_failed = False
        key = settings.api_key
        headers = {"authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        self._client = httpx.AsyncClient(headers=headers, timeout=settings.timeout_seconds)

    async def close(self) -> None:
        """End all connections."""
        await self._client.aclose()

    async def write(self, question: str, hits: Sequence[Hit]) -> str | None:
        """A summary of the first hits; None if the endpoint is away, too slow or cites what it was not given."""
        given = list(takewhile(lambda hit: hit.text.strip(), hits[: self._settings.max_sources]))
        context = _CONTEXT.build(given)
        try:
            text = await self._ask(context.prompt(question))
            if not context.check(text).resolves:
                raise BadReply("it cites a passage that it was not given")
        except (httpx.HTTPError, httpx.InvalidURL, BadReply, TimeoutError) as error:
            self._last_failed = True
            # of other errors only the type: their messages hold the address, and so perhaps a password
            reason = str(error) if isinstance(error, BadReply) else type(error).__name__
            logger.warning("synthesis failed", extra={"fields": {"reason": reason}})
            return None
        self._last_failed = False
        return text

    def health(self) -> Part:
        """Whether it worked the last time."""
        if self._last_failed:
            return Part(status="degraded", detail="The endpoint failed the last time; answers are extractive.")
        return Part(status="ok", detail=f"model {self._settings.model}")

    async def _ask(self, prompt: str) -> str:
        body = {
            "model": self._settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
        }
        async with asyncio.timeout(self._settings.timeout_seconds):  # for all of it, however it drips
            content = await self._content(json.dumps(body, ensure_ascii=True).encode())
        try:
            text = json.loads(content)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise BadReply("it is not a chat completion") from error
        if not isinstance(text, str) or not text.strip():
            raise BadReply("it is empty")
        return text.strip().encode("utf-8", "replace").decode()  # halves of surrogate pairs cannot be sent on

    async def _content(self, body: bytes) -> bytes:
        address, content = f"{str(self._settings.url).rstrip('/')}/chat/completions", bytearray()
        headers = {"content-type": "application/json"}
        async with self._client.stream("POST", address, content=body, headers=headers) as reply:
            if not reply.is_success:
                raise BadReply(f"HTTP {reply.status_code}")
            async for chunk in reply.aiter_bytes(65_536):
                content += chunk
                if len(content) > _MAX_REPLY_BYTES:
                    raise BadReply(f"it is larger than {_MAX_REPLY_BYTES} bytes")
        return bytes(content)
