"""Connections to one SQLite file: reads that see one state, writes that happen whole or not at all."""

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock

from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.schema import connect, explained, prepare

_VALUES_PER_STATEMENT = 500


class Connections:
    """The connections of one process to one knowledge base file, lent out one at a time."""

    def __init__(self, path: Path, *, busy_seconds: float, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self.busy_seconds = busy_seconds
        self._idle: deque[sqlite3.Connection] = deque()
        self._writing = Lock()
        self._closed = False
        self._file: tuple[int, int] | None = None
        if read_only and not path.exists():
            raise KnowledgeBaseError(f"{path}: does not exist")
        try:
            with self._lent() as connection:
                prepare(connection, path, busy_seconds=busy_seconds, read_only=read_only)
            self._file = _file_at(path)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A view of the file as it is now, whatever is written meanwhile."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def autocommit_read(self) -> Iterator[sqlite3.Connection]:
        """For a single statement, which sees one state without a transaction around it."""
        with self._lent() as connection:
            try:
                yield connection
            except sqlite3.Error as error:
                raise explained(self.path, error) from error

    @contextmanager
    def writing(self, *, same_content: bool = False) -> Iterator[sqlite3.Connection]:
        """A change that is committed at the end, or undone on any error.

        It makes a new version of the file, unless the content stays the same, as when an index image is replaced.
        """
        if self.read_only:
            raise KnowledgeBaseError(f"{self.path}: was opened read-only")
        with self._writing, self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection
            if not same_content:
                connection.execute("UPDATE state SET version = version + 1")
            connection.execute("COMMIT")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self.autocommit_read() as connection:
            try:
                connection.execute(begin)
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close all connections; the file is then a single file again."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise KnowledgeBaseError(f"{self.path}: has been closed")
        try:
            connection = self._idle.pop()
        except IndexError:
            if self._file is not None and _file_at(self.path) != self._file:
                raise KnowledgeBaseError(f"{self.path}: was replaced or deleted since it was opened") from None
            connection = connect(self.path, busy_seconds=self.busy_seconds, read_only=self.read_only)
        try:
            yield connection
        finally:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file is at a path now; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def grouped(ids: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Distinct ids in groups that fit a statement, each with the marks to bind it to.

    >>> list(grouped(["a", "b", "a"]))
    [('?, ?', ['a', 'b'])]
    """
    stream = iter(dict.fromkeys(ids))
    while group := list(islice(stream, _VALUES_PER_STATEMENT)):
        yield ", ".join("?" * len(group)), group
