"""Connections shared out among workers by what each has to do.

Workers that listen on one socket race for its connections, and the first to wake takes all that wait: one worker may
have every connection that is kept open while the others are idle. Here a worker takes one connection at a time, and
leaves it to another that has less to do. One that has far more to do than another, which may have started later, closes
connections after their next answer, so that callers open new ones.
"""

import asyncio
import fcntl
import mmap
import os
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from socket import socket
from typing import Any, NamedTuple

import uvloop

from search_service.operation.state import is_alive
from search_service.settings import Settings

_PAUSE_SECONDS = 0.005
_MAX_PAUSES = 10  # whoever has less to do but does not take a connection may hang


class Load(NamedTuple):
    """What a worker has to do: requests first, then connections that may bring some."""

    requests: int
    connections: int
    process: int


_LOAD = struct.Struct("3i")


class Loads:
    """What each worker has to do, in a file that they share."""

    def __init__(self, file: Path, workers: int) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        size = (workers + 1) * _LOAD.size  # a worker may be replaced before it ends
        os.ftruncate(self._file, size)
        self._shared = mmap.mmap(self._file, size)
        self._place = next((place for place in range(0, size, _LOAD.size) if self._is_free(place)), None)
        self._own, self._opening = Load(0, 0, 0), 0
        self.left = False

    def _is_free(self, place: int) -> bool:
        """Whether no worker has this place; if so this one has it until it ends, however that happens."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOAD.size, place)
        except OSError:
            return False
        return True

    def note(self, requests: int, connections: int) -> None:
        """Tell other workers what this one has to do."""
        self._own = Load(requests, connections, os.getpid())
        self._write(self._own._replace(connections=connections + self._opening))

    def note_opening(self, change: int) -> None:
        """Tell other workers of connections that are about to be counted."""
        self._opening += change
        self.note(self._own.requests, self._own.connections)

    def leave(self) -> None:
        """Tell other workers that this one takes no more connections."""
        self._write(Load(0, 0, 0))
        self._place, self.left = None, True

    def _write(self, load: Load) -> None:
        if self._place is not None:
            _LOAD.pack_into(self._shared, self._place, *load)

    def of_workers(self) -> list[Load]:
        """What every worker has to do that takes connections."""
        every = map(Load._make, _LOAD.iter_unpack(self._shared))
        return [load for load in every if load.process and is_alive(load.process)]

    def another_has_less(self) -> bool:
        """Whether another worker has less to do than this one."""
        own = (self._own.requests, self._own.connections + self._opening)
        return any(load[:2] < own and load.process != self._own.process for load in self.of_workers())

    def another_has_far_less(self) -> bool:
        """Whether another worker has less than half of the requests of this one."""
        own = self._own.requests
        return own > 3 and any(2 * load.requests + 3 < own for load in self.of_workers())


@cache
def loads() -> Loads:
    """Those of the service that this process is a worker of."""
    settings = Settings()
    return Loads(settings.run_folder / "loads", settings.workers)


class Acceptor:
    """Takes connections from a socket that other workers listen on, too. To uvicorn it is a server of asyncio."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        sock: socket,
        protocol: Callable[[], asyncio.Protocol],
        backlog: int,
        loads: Loads,
    ) -> None:
        self._loop, self._socket, self._protocol, self._loads = loop, sock, protocol, loads
        self._pauses = 0
        self._pause: asyncio.TimerHandle | None = None
        self._opening = set[asyncio.Task[None]]()
        sock.listen(backlog)
        sock.setblocking(False)
        loads.note(0, 0)
        self._listen()

    def _listen(self) -> None:
        self._pause = None
        self._loop.add_reader(self._socket, self._take)

    def _take(self) -> None:
        """Take one connection, or leave it to a worker that has less to do."""
        if self._pauses < _MAX_PAUSES and self._loads.another_has_less():
            self._pauses += 1
            self._wait()
            return
        self._pauses = 0
        try:
            self._accept()
        except BlockingIOError:  # another worker has taken it
            return
        except OSError:  # too many open files, perhaps
            self._wait()

    def _accept(self) -> None:
        connection, _ = self._socket.accept()
        self._loads.note_opening(1)
        task = self._loop.create_task(self._open(connection))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def _wait(self) -> None:
        self._loop.remove_reader(self._socket)
        self._pause = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    async def _open(self, connection: socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._protocol, connection)
        except OSError:  # the caller has gone
            connection.close()
        finally:
            self._loads.note_opening(-1)

    def close(self) -> None:
        """Take those connections that wait, and no more."""
        if self._pause is None:
            self._loop.remove_reader(self._socket)
        else:
            self._pause.cancel()
        with suppress(OSError):
            while True:
                self._accept()
        self._loads.leave()

    async def wait_closed(self) -> None:
        """Until connections that were taken are open."""
        if self._opening:
            await asyncio.wait(self._opening)


class Loop(uvloop.Loop):
    """An event loop whose servers leave connections to other workers that have less to do."""

    async def create_server(self, protocol_factory: Any, *arguments: Any, **options: Any) -> Any:
        """Listen on a socket that is shared with other workers; on any other as usual."""
        if options.get("sock") is None:
            return await super().create_server(protocol_factory, *arguments, **options)
        return Acceptor(self, options["sock"], protocol_factory, options["backlog"], loads())
