"""What surrounds every request: an id, limits, a key, headers, a line in the log."""

import asyncio
import hmac
import json
import logging
import re
from time import perf_counter
from typing import Any
from uuid import uuid4

from search_service.settings import Settings

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
_OPEN = {"/", "/page.css", "/page.js", "/icon.svg", "/health", "/health/live", "/openapi.json"}
_SAFE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Refused(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, headers


class Guard:
    """Wraps an ASGI application."""

    def __init__(self, app: Any, settings: Settings) -> None:
        self._app = app
        self._most = settings.max_body_bytes
        self._seconds = settings.request_seconds
        self._key = settings.api_key.get_secret_value().encode() if settings.api_key else None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 0
        headers = dict(scope["headers"])
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        request_id = given if _SAFE_ID.fullmatch(given) else uuid4().hex
        fields: dict[str, Any] = {"request_id": request_id, "method": scope["method"]}
        scope.setdefault("state", {}).update(request_id=request_id, fields=fields)

        async def answer(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name.lower() for name, _ in message["headers"]}
                more = {**HEADERS, "x-request-id": request_id}
                message["headers"] = [
                    *message["headers"],
                    *((n.encode(), v.encode()) for n, v in more.items() if n.encode() not in own),
                ]
            await send(message)

        try:
            try:
                self._check_key(scope["path"], headers)
                body = await asyncio.wait_for(self._body(headers, receive), self._seconds)
                await self._answer(scope, body, receive, answer)
            except TimeoutError as error:
                raise Refused(408, "The request took too long to arrive.", connection="close") from error
        except Refused as refusal:
            await _refuse(answer, refusal.status, refusal.message, request_id, refusal.headers)
        except Exception:
            logger.exception("request failed", extra={"fields": {"request_id": request_id}})
            if not status:
                await _refuse(answer, 500, "Something went wrong here. It has been noted.", request_id, {})
        finally:
            route = scope.get("route")
            took = round(1000 * (perf_counter() - started), 1)
            fields |= {"path": getattr(route, "path", "(none)"), "status": status, "milliseconds": took}
            logger.info("request", extra={"fields": fields})

    async def _answer(self, scope: dict[str, Any], body: bytes, receive: Any, answer: Any) -> None:
        """Let the application answer, unless the caller goes away before it has."""
        gone = asyncio.ensure_future(receive())  # the body is whole, so this can only be the end
        work = asyncio.ensure_future(self._app(scope, _replayed(body, gone), answer))
        try:
            await asyncio.wait({gone, work}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise Refused(499, "The caller has gone.")
            await work
        finally:
            for task in (gone, work):
                task.cancel()

    def _check_key(self, path: str, headers: dict[bytes, bytes]) -> None:
        if self._key is None or path in _OPEN:
            return
        if not hmac.compare_digest(headers.get(b"x-api-key", b""), self._key):
            raise Refused(401, "A valid key must be sent as X-API-Key.", **{"www-authenticate": "ApiKey"})

    async def _body(self, headers: dict[bytes, bytes], receive: Any) -> bytes:
        declared = headers.get(b"content-length", b"0")
        body, more = bytearray(), True
        if declared.isdigit() and int(declared) > self._most:
            more, body = False, bytearray(self._most + 1)
        while more and len(body) <= self._most:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if len(body) > self._most:
            raise Refused(413, f"A request may have {self._most} bytes.", connection="close")
        return bytes(body)


def _replayed(body: bytes, gone: "asyncio.Future[Any]") -> Any:
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Any:
        return waiting.pop() if waiting else await asyncio.shield(gone)

    return replay


async def _refuse(send: Any, status: int, message: str, request_id: str, headers: dict[str, str]) -> None:
    body = json.dumps({"message": message, "faults": [], "request_id": request_id}).encode()
    head = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    pairs = [(name.encode(), value.encode()) for name, value in head.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
