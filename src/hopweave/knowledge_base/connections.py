"""Connections to one SQLite file: reads that see one state, writes that happen whole or not at all."""

import os
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from threading import Lock, RLock, get_ident
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import finalize

from hopweave.errors import KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.knowledge_base.file_path import check_path
from hopweave.knowledge_base.locks import Connection, ForkAware, file_at, file_state, has_log, leave_open, watch_forks
from hopweave.knowledge_base.schema import connect, explained, prepare

Value = TypeVar("Value", str, int)

_VALUES_PER_STATEMENT = 500
_FORK_SECONDS = 5.0  # for which a fork waits for other threads
_inherited: set[tuple[int, int] | None] = set()  # files with connections that belong to the parent of this process


class Pin:
    """A view of the file that stays the same for as long as a search takes, for all threads that work for it.

    `version` is that of the file; `held` are indexes that belong to it.
    """

    def __init__(self, connection: Connection, give_back: Callable[[Connection], None]) -> None:
        self.connection = connection
        self.version = -1
        self.held: dict[str, Any] = {}
        self._give_back = give_back
        self._lock = RLock()
        self._users = 0
        self._ended = self._given_back = False

    @contextmanager
    def used(self, path: Path) -> Iterator[Connection]:
        """The connection, for one thread at a time."""
        with self._lock:
            if self._ended:  # a source that took too long, whose search has gone on without it
                raise KnowledgeBaseError(f"{path}: the search that this belongs to has ended")
            self._users += 1
            try:
                yield self.connection
            finally:
                self._users -= 1
        if self._ended:
            self._give_back_once()

    def end(self) -> None:
        """Give the connection back, or leave that to a thread that is not done with it and that nobody waits for."""
        self._ended = True
        self._give_back_once()

    def _give_back_once(self) -> None:
        if self._lock.acquire(blocking=False):
            try:
                if not self._users and not self._given_back:
                    self._given_back = True
                    self._give_back(self.connection)
            finally:
                self._lock.release()


_pins: ContextVar[Mapping[int, Pin]] = ContextVar("pins", default=MappingProxyType({}))


class Connections(ForkAware):
    """The connections of one process to one knowledge base file, lent out one at a time."""

    def __init__(self, path: Path, *, busy_seconds: float, read_only: bool) -> None:
        check_path(path)
        self.path = path
        self.file = path.absolute()  # which stays the same after `os.chdir`
        self.read_only = read_only
        self.busy_seconds = busy_seconds
        self._idle: deque[Connection] = deque()
        self._lent_to: dict[Connection, int] = {}
        self._lending = Lock()
        self._writing = Lock()
        self._process = os.getpid()
        self._closed = False
        self._file: tuple[int, int] | None = None
        if path.is_dir():
            raise KnowledgeBaseError(f"{path}: cannot be opened: is a folder, not a file, such as {path / 'my.db'}")
        if read_only and not path.exists():
            raise KnowledgeBaseError(f"{path}: does not exist")
        try:
            with self._lent() as connection:
                prepare(connection, path, busy_seconds=busy_seconds, read_only=read_only)
            self._file = file_at(self.file)
        except BaseException:
            self.close()
            raise
        watch_forks(self)
        finalize(self, _close_all, self._idle)  # those that were never closed

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A view of the file as it is now, whatever is written meanwhile; inside `pinned`, that of the pin."""
        pin = self.pin
        if pin is None:
            with self._transaction("BEGIN") as connection:
                yield connection
        else:
            with self.autocommit_read() as connection:
                yield connection

    @contextmanager
    def autocommit_read(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which sees one state without a transaction around it."""
        pin = self.pin
        with pin.used(self.path) if pin else self._lent() as connection, self._explained(connection):
            yield connection

    @contextmanager
    def writing(self, *, same_content: bool = False) -> Iterator[sqlite3.Connection]:
        """A change that is committed at the end, or undone on any error.

        It makes a new version of the file if a row was changed, unless the content stays the same, as when an index
        image is replaced.
        """
        if self.read_only:
            raise KnowledgeBaseError(f"{self.path}: was opened read-only")
        with self._writing, self._transaction("BEGIN IMMEDIATE") as connection:
            before = connection.total_changes
            yield connection
            if not same_content and connection.total_changes > before:
                connection.execute("UPDATE state SET version = version + 1")
            connection.execute("COMMIT")

    @property
    def pin(self) -> Pin | None:
        """The view to which the caller's search is bound, if it is."""
        return _pins.get().get(id(self))

    @contextmanager
    def pinned(self) -> Iterator[Pin]:
        """Until the end, `reading` gives the view of this moment, to this thread and to those it starts."""
        connection = self._taken()
        pin = Pin(connection, self._given_back)
        token = _pins.set({**_pins.get(), id(self): pin})
        try:
            with self._explained(connection):
                connection.execute("BEGIN")
                yield pin
        finally:
            _pins.reset(token)
            pin.end()

    def confirm(self, connection: sqlite3.Connection) -> None:
        """Raise an error if the file was written while it was read without locks, so that nothing read can be used."""
        if isinstance(connection, Connection) and not self._is_unchanged(connection):
            raise KnowledgeBaseBusy(f"{self.path}: was written by another process while it was read; try again")

    def close(self) -> None:
        """Close all connections; the file is then a single file again."""
        self._closed = True
        self._close_idle()

    def before_fork(self) -> None:
        """Close the connections, once other threads have given back theirs."""
        self._lending.acquire()
        deadline = monotonic() + _FORK_SECONDS
        while any(thread != get_ident() for thread in self._lent_to.copy().values()) and monotonic() < deadline:
            sleep(0.001)
        self._close_idle()

    def after_fork(self, *, in_child: bool) -> None:
        """Lend connections again; in the child with locks of its own."""
        if not in_child:
            self._lending.release()
            return
        for connection in self._lent_to:
            leave_open(connection)
            _inherited.add(self._file)
        self._lent_to, self._process = {}, os.getpid()
        self._lending, self._writing = Lock(), Lock()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        with self._lent() as connection, self._explained(connection):
            connection.execute(begin)
            yield connection

    @contextmanager
    def _explained(self, connection: sqlite3.Connection) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self.confirm(connection)
            raise explained(self.path, error) from error
        self.confirm(connection)

    @contextmanager
    def _lent(self) -> Iterator[Connection]:
        connection = self._taken()
        try:
            yield connection
        finally:
            self._given_back(connection)

    def _given_back(self, connection: Connection) -> None:
        if connection not in self._lent_to:  # a connection of the parent, in a process that was forked meanwhile
            return
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        finally:
            del self._lent_to[connection]
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)

    def _taken(self) -> Connection:
        if get_ident() in list(self._lent_to.values()):  # a fork waits for this thread, so it must not wait in turn
            return self._take()
        with self._lending:
            return self._take()

    def _take(self) -> Connection:
        if self._closed:
            raise KnowledgeBaseError(f"{self.path}: has been closed")
        file = file_at(self.file)
        if (file is not None and file in _inherited) or self._process != os.getpid():
            raise KnowledgeBaseError(
                f"{self.path}: was in use when this process was forked from another; open it in a process that was "
                "started by spawn, or fork when nothing is read or written"
            )
        if self._file is not None and file != self._file:
            self._close_idle()
            raise KnowledgeBaseError(f"{self.path}: was replaced or deleted since it was opened; open it again")
        connection = self._idle_connection() or connect(
            self.path, busy_seconds=self.busy_seconds, read_only=self.read_only, file=self.file
        )
        self._lent_to[connection] = get_ident()
        return connection

    def _idle_connection(self) -> Connection | None:
        with suppress(IndexError):
            while connection := self._idle.pop():
                if connection.as_found is None or (self._is_unchanged(connection) and not has_log(self.file)):
                    return connection
                connection.close()
        return None

    def _is_unchanged(self, connection: Connection) -> bool:
        return connection.as_found is None or file_state(self.file) == connection.as_found

    def _close_idle(self) -> None:
        _close_all(self._idle)


def _close_all(connections: deque[Connection]) -> None:
    with suppress(IndexError):
        while True:
            connections.pop().close()


def grouped(ids: Iterable[Value]) -> Iterator[tuple[str, list[Value]]]:
    """Distinct ids or rows in groups that fit a statement, each with the marks to bind it to.

    >>> list(grouped(["a", "b", "a"]))
    [('?, ?', ['a', 'b'])]
    """
    stream = iter(dict.fromkeys(ids))
    while group := list(islice(stream, _VALUES_PER_STATEMENT)):
        yield ", ".join("?" * len(group)), group
