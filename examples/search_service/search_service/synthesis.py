"""A summary with citations: by a model at an OpenAI-compatible endpoint, or in the sources' own words."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from itertools import takewhile

import httpx

from hopweave import Hit
from hopweave.context.cite import Citation, citation
from hopweave.context.context_builder import Context, ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer
from search_service.messages import Part
from search_service.settings import Synthesis

logger = logging.getLogger("search_service")

_MAX_REPLY_BYTES = 1_000_000
_EXTRACT = ExtractiveAnswer()
_CONTEXT = ContextBuilder(header="[{number}] {title} ({source})\n")


class BadReply(Exception):
    """The endpoint answered, but not with a summary that can be used."""


class Failed(Exception):
    """There is no summary: the endpoint is away, too slow, or its reply is of no use. It has been logged."""


def citations(hits: Sequence[Hit]) -> list[Citation]:
    """The hits as numbered sources; a number is the rank of a result."""
    return [citation(hit, rank) for rank, hit in enumerate(hits, start=1) if hit.text.strip()]


def extract(question: str, hits: Sequence[Hit]) -> list[str]:
    """The sentences that answer the question best, each with the rank of the result it is from."""
    quotes = _EXTRACT.answer(question, citations(hits)).quotes
    return [f"{quote.sentence} [{quote.number}]" for quote in quotes]


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

    def context(self, hits: Sequence[Hit]) -> Context:
        """What the endpoint is given of the first hits."""
        return _CONTEXT.build(list(takewhile(lambda hit: hit.text.strip(), hits[: self._settings.max_sources])))

    async def write(self, question: str, hits: Sequence[Hit]) -> str:
        """A summary of the first hits. One that cites what it was not given is of no use."""
        context = self.context(hits)
        with self._noted():
            async with asyncio.timeout(self._settings.timeout_seconds):  # for all of it, however it drips
                async with self._reply(context.prompt(question), stream=False) as reply:
                    text = await _whole(reply)
            if not text.strip():
                raise BadReply("it is empty")
            if not context.check(text).resolves:
                raise BadReply("it cites a passage that it was not given")
        return text.strip()

    async def stream(self, question: str, context: Context) -> AsyncIterator[str]:
        """A summary piece by piece, as it is written; its citations are for the caller to check."""
        end = asyncio.get_running_loop().time() + self._settings.timeout_seconds
        with self._noted():
            async with AsyncExitStack() as stack:
                async with asyncio.timeout_at(end):
                    reply = await stack.enter_async_context(self._reply(context.prompt(question), stream=True))
                pieces, written = _pieces(reply), False
                while True:
                    async with asyncio.timeout_at(end):  # not around the yield, where it would strike the caller
                        piece = await anext(pieces, None)
                    if piece is None:
                        break
                    written = written or bool(piece.strip())
                    yield piece
            if not written:
                raise BadReply("it is empty")

    def health(self) -> Part:
        """Whether it worked the last time."""
        if self._last_failed:
            return Part(status="degraded", detail="The endpoint failed the last time; answers are extractive.")
        return Part(status="ok", detail=f"model {self._settings.model}")

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, BadReply, TimeoutError) as error:
            self._last_failed = True
            # of other errors only the type: their messages hold the address, and so perhaps a password
            reason = str(error) if isinstance(error, BadReply) else type(error).__name__
            logger.warning("synthesis failed", extra={"fields": {"reason": reason}})
            raise Failed from error
        self._last_failed = False

    @asynccontextmanager
    async def _reply(self, prompt: str, *, stream: bool) -> AsyncIterator[httpx.Response]:
        body = {
            "model": self._settings.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": self._settings.temperature,
            "max_tokens": self._settings.max_tokens,
            **({"stream": True} if stream else {}),
        }
        address = f"{str(self._settings.url).rstrip('/')}/chat/completions"
        headers, content = {"content-type": "application/json"}, json.dumps(body, ensure_ascii=True).encode()
        async with self._client.stream("POST", address, content=content, headers=headers) as reply:
            if not reply.is_success:
                raise BadReply(f"HTTP {reply.status_code}")
            yield reply


async def _limited(reply: httpx.Response) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in reply.aiter_bytes():
        size += len(chunk)
        if size > _MAX_REPLY_BYTES:
            raise BadReply(f"it is larger than {_MAX_REPLY_BYTES} bytes")
        yield chunk


async def _whole(reply: httpx.Response) -> str:
    content = bytearray()
    async for chunk in _limited(reply):
        content += chunk
    return _text(bytes(content), "message")[0]


async def _pieces(reply: httpx.Response) -> AsyncIterator[str]:
    """The pieces of a stream of server-sent events; of an endpoint that does not stream, its whole reply."""
    if "text/event-stream" not in reply.headers.get("content-type", ""):
        yield await _whole(reply)
        return
    begun, complete = bytearray(), False
    async for chunk in _limited(reply):
        begun += chunk
        if b"\n" not in chunk:
            continue
        *lines, begun = begun.split(b"\n")
        for data in (line[5:].strip() for line in lines if line.startswith(b"data:")):
            if data == b"[DONE]":
                return
            text, last = _text(bytes(data), "delta")
            complete = complete or last
            if text:
                yield text
    if not complete:
        raise BadReply("it ended too soon")


def _text(content: bytes, part: str) -> tuple[str, bool]:
    """What a chat completion or a piece of one says, and whether it is the last."""
    try:
        choices = json.loads(content)["choices"]
        if part == "delta" and choices == []:  # a count of tokens, say
            return "", False
        text, reason = choices[0][part].get("content"), choices[0].get("finish_reason")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BadReply("it is not a chat completion") from error
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise BadReply("it is not a chat completion")
    return text.encode("utf-8", "replace").decode(), reason is not None  # halves of surrogate pairs cannot be sent on
