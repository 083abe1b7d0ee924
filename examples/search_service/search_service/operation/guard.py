"""What surrounds every request: an id, limits, a key, headers, a line in the log."""

import asyncio
import json
import logging
import re
from time import perf_counter
from typing import Any
from uuid import uuid4

from search_service.operation.keys import CALLER, NOBODY, Keys
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
_PAGE = {"/", "/page.css", "/page.js", "/parts.js", "/manage.js", "/icon.svg"}
_OPEN = {*_PAGE, "/health", "/health/live", "/health/ready", "/openapi.json"}
_WRITING = ("/documents", "/sources", "/jobs")
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
        self._seconds = settings.request_seconds
        self._keys = Keys(settings)
        self._sizes = {"/documents:bulk": settings.max_upload_bytes, "/documents/": settings.max_document_bytes}
        self._usual_size = settings.max_body_bytes

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
                fields["caller"] = self._check_key(scope["path"], headers)
                most = next(
                    (most for path, most in self._sizes.items() if scope["path"].startswith(path)), self._usual_size
                )
                body = await asyncio.wait_for(_body(headers, receive, most), self._seconds)
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

    def _max_bytes(self, path: str) -> int:
        return next((most for start, most in self._sizes.items() if path.startswith(start)), self._usual_size)

    def _check_key(self, path: str, headers: dict[bytes, bytes]) -> str:
        """The name of a caller who may do this."""
        caller = self._keys.caller(headers)
        if path not in _OPEN:
            if caller is None or caller.role == "none":
                raise Refused(401, "A valid key must be sent as X-API-Key.", **{"www-authenticate": "ApiKey"})
            if not caller.may("write" if path.startswith(_WRITING) else "read"):
                raise Refused(403, "This needs a key that may write.")
        CALLER.set(caller or NOBODY)
        return (caller or NOBODY).name


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
    body = json.dumps({"message": message, "faults": [], "request_id": request_id}).encode()
    head = {"content-type": "application/json", "content-length": str(len(body)), **headers}
    pairs = [(name.encode(), value.encode()) for name, value in head.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
