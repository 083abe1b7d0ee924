"""Connections that get to the point: whoever sends no request makes room for others."""

import asyncio
from functools import cache
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from search_service.operation.balance import loads
from search_service.settings import Settings

_LAST_SHARE = 0.1  # of the time that the service takes to end: requests may be on their way on connections that rest


@cache
def _settings() -> Settings:
    return Settings()


class Connection(HttpToolsProtocol):
    """Closed if the head of a request is too large or does not arrive in time, or if there are too many connections.

    A body has its own limits in `guard.py`.
    """

    _silent: dict["Connection", asyncio.TimerHandle] = {}  # noqa: RUF012 - of all connections, the longest silent first
    _head_bytes = 0
    _has_begun = False  # to send a head

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request; if there are too many connections, the longest silent one goes."""
        super().connection_made(transport)
        self._wait(_settings().head_seconds)
        if len(self.connections) > _settings().max_connections:
            next(iter(Connection._silent))._give_up()

    def data_received(self, data: bytes) -> None:
        """Stop waiting when the head of a request is there."""
        before = self.cycle
        awaits_head = before is None or not before.more_body
        super().data_received(data)
        if self.cycle is not before:
            self._head_bytes = 0
            self._stop_waiting()
            if loads().left or loads().another_has_far_less():
                self.cycle.keep_alive = False
        elif awaits_head:
            self._head_bytes += len(data)
            if self._head_bytes > _settings().max_head_bytes:
                self._give_up()

    def on_message_begin(self) -> None:
        """From now on there is less time."""
        super().on_message_begin()
        self._has_begun = True
        if self.cycle is not None and self in Connection._silent:
            self._wait(_settings().head_seconds)

    def on_headers_complete(self) -> None:
        """Refuse a head that arrived at once and is too large; the parser makes it a 400."""
        self._has_begun = False
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > _settings().max_head_bytes:
            raise ValueError("the head of the request is too large")
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is there."""
        has_next = bool(self.pipeline)
        super().on_response_complete()
        if not has_next and not self.transport.is_closing():
            self._wait(_settings().head_seconds if self._has_begun else _settings().keep_alive_seconds)

    def shutdown(self) -> None:
        """End after the request that is under way, or after one that may be on its way."""
        if self in Connection._silent:
            self._wait(_settings().head_seconds)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait(self, seconds: float) -> None:
        self._cancel_timer()
        if loads().left:
            seconds = min(seconds, _LAST_SHARE * _settings().shutdown_seconds)
        Connection._silent[self] = self.loop.call_later(seconds, self._give_up)
        self._note_load()

    def _stop_waiting(self) -> None:
        self._cancel_timer()
        self._note_load()

    def _cancel_timer(self) -> None:
        timer = Connection._silent.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _note_load(self) -> None:
        every = len(self.connections)
        loads().note(every - len(Connection._silent), every)

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
