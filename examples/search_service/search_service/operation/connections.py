"""Connections that get to the point: whoever sends no request makes room for others."""

import asyncio
from functools import cache
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from search_service.settings import Settings


@cache
def _settings() -> Settings:
    return Settings()


class Connection(H11Protocol):
    """Closed if the head of a request does not arrive in time, or sooner if there are too many connections.

    h11 refuses heads that are too large; a body has its own limits in `guard.py`.
    """

    _silent: dict["Connection", asyncio.TimerHandle] = {}  # noqa: RUF012 - of all connections, the longest silent first

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request; if there are too many connections, the longest silent one goes."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > _settings().max_connections:
            next(iter(Connection._silent))._give_up()

    def data_received(self, data: bytes) -> None:
        """Stop waiting when the head of a request is there."""
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        before = self.cycle
        super().on_response_complete()
        if self.cycle is before and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing to wait for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._stop_waiting()
        Connection._silent[self] = self.loop.call_later(_settings().head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        timer = Connection._silent.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._stop_waiting()
        self.transport.abort()
