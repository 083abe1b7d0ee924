"""Services on the network: their addresses and keys, and requests with retries and one deadline for all attempts.

All requests run on one event loop in a separate thread. That keeps connections open between calls, and lets the
deadline or a cancellation interrupt a request at any point.
"""

import asyncio
import atexit
import json
import logging
import os
import random
import re
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

from hopweave.concurrency.once import once
from hopweave.extras import of_extra

if TYPE_CHECKING:
    import httpx

FIRST_PAUSE_SECONDS = 0.1
TOO_MANY_REQUESTS = 429
MAX_REPLY_BYTES = 10_000_000
"""A longer reply is refused, uncompressed; the scores of a thousand documents take less than a hundredth of it."""

# by process id: a forked child must not use its parent's loop, whose thread it did not inherit
_loops: dict[int, asyncio.AbstractEventLoop] = {}
_clients: dict[int, "httpx.AsyncClient"] = {}
_starting = threading.Lock()
_ours: ContextVar[bool] = ContextVar("a request of ours", default=False)
_CHUNK_BYTES = 65_536
_CREDENTIAL = re.compile(r"(?i)key|token|secret|passw|auth|credential|signature|^(sig|code|pw)$")
"""Names of the parameters of a URL that services take keys by."""


@dataclass(frozen=True, slots=True)
class Request:
    """A POST request, its deadline for all attempts together, and the number of retries."""

    url: str
    body: Mapping[str, Any] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    deadline_seconds: float
    max_retries: int


@dataclass(frozen=True, slots=True)
class HttpOutcome:
    """The JSON of the reply, or the reason why there is none. The reason never quotes the server."""

    payload: object = None
    reason: str | None = None
    attempts: int = 0


def post(request: Request) -> HttpOutcome:
    """Post and wait for the outcome.

    >>> post(Request("http://127.0.0.1:9/rerank", {}, {}, deadline_seconds=2, max_retries=0)).reason
    'connection failed (ConnectError)'
    """
    future = _submit(_within_deadline(request))
    try:
        return future.result()
    except BaseException:  # an interrupt of the waiting thread must not leave the request running
        future.cancel()
        raise


async def post_async(request: Request) -> HttpOutcome:
    """Post without blocking the caller's event loop; cancelling the call cancels the request."""
    return await asyncio.wrap_future(_submit(_within_deadline(request)))


async def _within_deadline(request: Request) -> HttpOutcome:
    attempts = 0
    last = ""
    try:
        async with asyncio.timeout(request.deadline_seconds) as deadline:
            expires = deadline.when() or 0.0
            while True:
                attempts += 1
                outcome, pause = await _attempt(request, attempts)
                if pause is None or attempts > request.max_retries:
                    return outcome
                last = f"; before that: {outcome.reason}"
                if asyncio.get_running_loop().time() + pause >= expires:
                    return HttpOutcome(None, f"{outcome.reason}, and no time left to try again", attempts)
                await asyncio.sleep(pause)
    except TimeoutError:
        return HttpOutcome(None, f"no answer within {request.deadline_seconds:g} s{last}", attempts)


async def _attempt(request: Request, attempt: int) -> tuple[HttpOutcome, float | None]:
    """One attempt: its outcome, and the pause before the next one, or None if a retry is pointless."""
    client = _client()
    import httpx

    _quiet_httpx()
    try:
        response, content = await _reply(client, request)
    except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
        return HttpOutcome(None, f"connection failed ({type(error).__name__})", attempt), _pause(attempt)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        # only the type of the error: its message may quote a header, and so the key
        return HttpOutcome(None, f"request failed ({type(error).__name__})", attempt), None
    if response.is_success:
        return _read(content, attempt), None
    refused = HttpOutcome(None, f"HTTP {response.status_code}", attempt)
    if response.status_code == TOO_MANY_REQUESTS or response.is_server_error:
        asked = _seconds(response.headers.get("retry-after"))
        return refused, _pause(attempt) if asked is None else asked
    return refused, None


async def _reply(client: "httpx.AsyncClient", request: Request) -> tuple["httpx.Response", bytes]:
    """The reply, of which no more is read than it may have."""
    content = bytearray()
    ours = _ours.set(True)
    try:
        sent = client.stream("POST", request.url, json=request.body, headers=dict(request.headers))
        async with sent as response:
            async for chunk in response.aiter_bytes(_CHUNK_BYTES):
                content += chunk
                if len(content) > MAX_REPLY_BYTES or not response.is_success:
                    break
    finally:
        _ours.reset(ours)
    return response, bytes(content)


def _read(content: bytes, attempt: int) -> HttpOutcome:
    if len(content) > MAX_REPLY_BYTES:
        return HttpOutcome(None, f"the reply is larger than {MAX_REPLY_BYTES} bytes", attempt)
    try:
        return HttpOutcome(json.loads(content), None, attempt)
    except (ValueError, RecursionError):
        return HttpOutcome(None, "the reply is not JSON", attempt)


@once()
def _quiet_httpx() -> None:
    """Keep httpx from writing our addresses into logs: they may hold a key."""
    logging.getLogger("httpx").addFilter(lambda _: not _ours.get())


def _pause(attempt: int) -> float:
    """Exponential backoff with jitter."""
    return FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.5)  # noqa: S311 - no secret


def _seconds(retry_after: str | None) -> float | None:
    """The pause that a server asks for, given in seconds or as a date."""
    if retry_after is None:
        return None
    with suppress(ValueError):
        return max(float(int(retry_after)), 0.0)
    try:
        date = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max((date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)


def _client() -> "httpx.AsyncClient":
    client = _clients.get(os.getpid())
    if client is None:
        httpx = of_extra("remote", "httpx")
        client = _clients[os.getpid()] = httpx.AsyncClient(
            timeout=None,
            limits=httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=30),
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # callers share this client, not sessions
        )
    return client


def _submit(work: Coroutine[Any, Any, HttpOutcome]) -> Future[HttpOutcome]:
    with _starting:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="hopweave-http", daemon=True).start()
    return asyncio.run_coroutine_threadsafe(work, loop)


@atexit.register
def _close() -> None:
    loop, client = _loops.pop(os.getpid(), None), _clients.pop(os.getpid(), None)
    if loop is not None and client is not None:
        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(1)


def hidden_key(data: Any) -> Any:
    """The input of a component with its `api_key` as a secret: before validation, so that no error quotes it.

    >>> hidden_key({"api_key": "sk-123"})
    {'api_key': SecretStr('**********')}
    """
    if isinstance(data, dict) and not isinstance(data.get("api_key"), SecretStr | None):
        key = data["api_key"]
        return {**data, "api_key": SecretStr(key.decode() if isinstance(key, bytes) else str(key))}
    return data


def checked_url(url: str) -> str:
    """The URL, if it is one of HTTP and holds neither a password nor a key.

    >>> checked_url("https://rerank.harbour.example/v1?api-version=2")
    'https://rerank.harbour.example/v1?api-version=2'
    >>> checked_url("https://rerank.harbour.example/v1?key=sk-123")
    Traceback (most recent call last):
        ...
    ValueError: a URL must not contain a key, as its parameter 'key' does; use api_key_env
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("a URL starts with http:// or https:// and a host")
    if parts.username or parts.password:
        raise ValueError("a URL must not contain a user name or password; use api_key_env")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _CREDENTIAL.search(name):
            raise ValueError(f"a URL must not contain a key, as its parameter {name!r} does; use api_key_env")
    return url


def key_of(api_key: SecretStr | None, variable: str | None) -> str | None:
    """The key that was given, or else the value of an environment variable; None if both are empty.

    >>> key_of(SecretStr(" sk-123 "), None)
    'sk-123'
    """
    if api_key is not None:
        return api_key.get_secret_value().strip() or None
    return (os.environ.get(variable, "").strip() or None) if variable else None
