"""What surrounds every request: an id, limits, a key, headers, a line in the log."""

import asyncio
import json
import logging
import math
import re
from time import perf_counter
from typing import Any
from uuid import uuid4

from search_service.operation.keys import ANONYMOUS, CALLER, NOBODY, Caller, Keys
from search_service.operation.metrics import note_request
from search_service.operation.rates import Rates
from search_service.operation.traces import described, request_span
from search_service.settings import LOOPBACK, Settings

logger = logging.getLogger("search_service")

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_PAGE = {"/", "/page.css", "/page.js", "/parts.js", "/manage.js", "/icon.svg"}
_OPEN = {*_PAGE, "/health", "/health/live", "/health/ready", "/openapi.json"}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_WRITING = ("/documents", "/sources", "/jobs")
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Refused(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


class Answer:
    """Sends an answer with the headers that every answer has."""

    def __init__(self, send: Any, headers: list[tuple[bytes, bytes]]) -> None:
        self._send, self._headers = send, headers
        self.status, self.complete = 0, False

    async def __call__(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            own = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in self._headers if pair[0] not in own)]
        else:
            self.complete = not message.get("more_body", False)
        await self._send(message)


class Guard:
    """Wraps an ASGI application."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app = app
        self._seconds = settings.request_seconds
        self._keys = Keys(settings)
        self._rates = Rates(settings.run_folder / "rates", self._keys.rates)
        self._origins = {origin.encode(): origin for origin in settings.cors_origins}
        self._sizes = {"/documents:bulk": settings.max_upload_bytes, "/documents/": settings.max_document_bytes}
        self._usual_size = settings.max_body_bytes
        self._writes_from = LOOPBACK if settings.anonymous_role is None else None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        request_id = given if _SAFE_ID.fullmatch(given) else uuid4().hex
        fields: dict[str, Any] = {"request_id": request_id, "method": scope["method"]}
        scope.setdefault("state", {}).update(request_id=request_id, fields=fields)
        more = [*_HEADERS, (b"x-request-id", request_id.encode()), *self._cors(headers)]

        answer = Answer(send, more)
        with request_span(scope, headers) as span:
            try:
                await self._checked(scope, headers, receive, answer)
            except Refused as refusal:
                await _refuse(answer, refusal.status, refusal.message, request_id, refusal.headers)
            except Exception:
                logger.exception("request failed", extra={"fields": {"request_id": request_id}})
                if not answer.status:
                    await _refuse(answer, 500, "Something went wrong here. It has been noted.", request_id, {})
            finally:
                took, route = perf_counter() - started, getattr(scope.get("route"), "path", "(none)")
                note_request(route, scope["method"], answer.status, took)
                fields |= {"path": route, "status": answer.status, "milliseconds": round(1000 * took, 1)}
                fields |= described(span, fields)
                logger.info("request", extra={"fields": fields})

    async def _checked(self, scope: dict[str, Any], headers: dict[bytes, bytes], receive: Any, answer: Answer) -> None:
        """Let a request through that has a key, comes not too often, is not too large and arrives in time."""
        if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
            raise Refused(204 if self._cors(headers) else 403, "")
        caller = self._caller(scope["path"], headers)
        scope["state"]["fields"]["caller"] = caller.name
        CALLER.set(caller)
        if scope["path"] not in _OPEN and (wait := self._rates.wait_seconds(caller.name)):
            raise Refused(429, "Too many requests with this key.", **{"retry-after": str(math.ceil(wait))})
        try:
            async with asyncio.timeout(self._seconds):
                body = await _body(headers, receive, self._max_bytes(scope["path"]))
        except TimeoutError as error:
            raise Refused(408, "The request took too long to arrive.", connection="close") from error
        await self._answer(scope, body, receive, answer)

    def _cors(self, headers: dict[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        """What a browser needs to be told about a page of another origin: nothing, unless the origin is allowed."""
        origin = headers.get(b"origin", b"")
        if origin not in self._origins:
            return []
        return [
            (b"access-control-allow-origin", origin),
            (b"access-control-allow-methods", b"GET, POST, PUT, DELETE"),
            (b"access-control-allow-headers", b"content-type, x-api-key, x-request-id"),
            (b"access-control-expose-headers", b"x-request-id, retry-after"),
            (b"access-control-max-age", b"600"),
            (b"vary", b"origin"),
        ]

    async def _answer(self, scope: dict[str, Any], body: bytes, receive: Any, answer: Answer) -> None:
        """Let the application answer, unless the caller goes away before it has."""
        gone = asyncio.ensure_future(receive())  # the body is whole, so this can only be the end
        work = asyncio.current_task()
        assert work is not None
        gone.add_done_callback(lambda _: answer.complete or work.cancel())
        try:
            await self._app(scope, _replayed(body, gone), answer)
        except asyncio.CancelledError:
            work.uncancel()
            if gone.done():
                raise Refused(499, "The caller has gone.") from None
            if answer.status:
                raise
            raise Refused(503, "The service is about to end.", connection="close") from None
        finally:
            answer.complete = True
            gone.cancel()

    def _max_bytes(self, path: str) -> int:
        return next((most for start, most in self._sizes.items() if path.startswith(start)), self._usual_size)

    def _caller(self, path: str, headers: dict[bytes, bytes]) -> Caller:
        """Who calls, if they may."""
        caller = self._keys.caller(headers)
        if path in _OPEN:
            return caller or NOBODY
        if caller is None or caller.role == "none":
            raise Refused(401, "A valid key must be sent as X-API-Key.", **{"www-authenticate": "ApiKey"})
        if not path.startswith(_WRITING):
            return caller
        if caller.role != "write":
            raise Refused(403, "This needs a key that may write.")
        host = headers.get(b"host", b"").decode("latin-1").rpartition(":")[0] or headers.get(b"host", b"").decode(
            "latin-1"
        )
        if caller.name == ANONYMOUS and self._writes_from is not None and host not in self._writes_from:
            raise Refused(403, "Without a key, documents are changed from this machine alone.")  # DNS rebinding
        return caller


async def _body(headers: dict[bytes, bytes], receive: Any, most: int) -> bytes:
    declared = headers.get(b"content-length", b"0")
    body, more = bytearray(), True
    if declared.isdigit() and int(declared) > most:
        more, body = False, bytearray(most + 1)
    while more and len(body) <= most:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if len(body) > most:
        raise Refused(413, f"A request may have {most} bytes.", connection="close")
    return bytes(body)


def _replayed(body: bytes, gone: "asyncio.Future[Any]") -> Any:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return waiting.pop() if waiting else await asyncio.shield(gone)

    return replay


async def _refuse(send: Any, status: int, message: str, request_id: str, headers: dict[str, str]) -> None:
    problem = {"message": message, "faults": [], "request_id": request_id}
    body = b"" if status == 204 else json.dumps(problem).encode()
    head = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    pairs = [(name.encode(), value.encode()) for name, value in head.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
