"""Connections to a PostgreSQL server: a pool with health checks, retries, and errors that never show the password."""

import random
import re
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import psycopg
from psycopg import Connection, Cursor, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from hopweave.graph_store.backend import (
    ForkAware,
    GraphTimeout,
    GraphUnavailable,
    KnowledgeBaseError,
    leave_open,
    watch_forks,
)
from hopweave_postgres.arrays import accept_arrays

T = TypeVar("T")
Rows = list[tuple[Any, ...]]
Statement = tuple[str, Sequence[Any]]
"""SQL and the values to bind."""

_TRIES = 8
_MAX_PAUSE = 2.0
_AGAIN = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
_SETTINGS = "SET jit = off; SET plan_cache_mode = force_custom_plan; SET client_encoding = 'UTF8'"
_PASSWORD_IN_ADDRESS = re.compile(r"(?<=://)([^/@:]*):[^/]*(?=@)")
_PASSWORD_OPTION = re.compile(r"(?i)(password\s*=\s*)('(?:[^'\\]|\\.)*'|[^&\s]+)")


class Connections(ForkAware):
    """A pool of connections to one schema of a database.

    A connection is checked before it is handed out. A write whose connection is lost, or that another write has
    crossed, is tried again; writes are made so that doing one twice is the same as doing it once.
    """

    def __init__(
        self, url: str, schema: str, *, pool_size: int, statement_seconds: float, connect_seconds: float
    ) -> None:
        self.where = masked(url)
        self.schema = schema
        self.statement_seconds = statement_seconds
        self._url, self._secrets, self._pool_size = url, _secrets(url), pool_size
        self._connect_seconds = connect_seconds
        self.round_trips = 0  # of readers
        self._opened: ConnectionPool[Connection[Any]] | None = None
        self._pool  # noqa: B018 - so that a URL that cannot be right is refused at once
        watch_forks(self)

    @property
    def _pool(self) -> "ConnectionPool[Connection[Any]]":
        """The pool of this process, which is opened when it is first needed."""
        if self._opened is None:
            try:
                self._opened = ConnectionPool(
                    self._url,
                    kwargs={
                        "autocommit": True,
                        "connect_timeout": max(2, round(self._connect_seconds)),
                        "prepare_threshold": None,
                    },
                    min_size=0,
                    max_size=self._pool_size,
                    timeout=self._connect_seconds,
                    configure=self._configure,
                    reconnect_timeout=self._connect_seconds,
                    open=True,
                )
            except psycopg.Error as error:
                raise self.explained(error) from None
        return self._opened

    def after_fork(self, *, in_child: bool) -> None:
        """A child opens a pool of its own: two processes on one connection would read one another's answers."""
        if in_child and self._opened is not None:
            leave_open(self._opened)
            self._opened = None

    def __repr__(self) -> str:
        return f"Connections({self.where!r}, schema={self.schema!r})"

    def close(self) -> None:
        """Give up all connections."""
        if self._opened is not None:
            self._opened.close()

    def read(self, statement: str, parameters: Sequence[Any] = ()) -> Rows:
        """The rows of a statement, which stands for itself and ends after `statement_seconds`."""
        return self.read_together((statement, parameters))[0]

    def read_together(self, *statements: Statement) -> list[Rows]:
        """The rows of statements that are sent together, in one round trip.

        If a connection turns out to be dead, all of them are checked, and the
        statements are sent once more.
        """
        try:
            return self._read(statements)
        except psycopg.OperationalError as error:
            if not _may_succeed(error):
                raise self.explained(error) from None
        except (psycopg.Error, PoolTimeout) as error:
            raise self.explained(error) from None
        try:
            self._pool.check()
            return self._read(statements)
        except (psycopg.Error, PoolTimeout) as error:
            raise self.explained(error) from None

    def _read(self, statements: Sequence[Statement]) -> list[Rows]:
        self.round_trips += 1
        with self._pool.connection() as connection:
            cursors = [connection.cursor(binary=True) for _ in statements]
            with connection.pipeline() if len(statements) > 1 else nullcontext():
                for cursor, (statement, parameters) in zip(cursors, statements, strict=True):
                    cursor.execute(statement.encode(), parameters)
            return [cursor.fetchall() for cursor in cursors]

    def write(self, work: Callable[[Cursor[Any]], T]) -> T:
        """What `work` returns, done in one transaction, again if another write has crossed it."""
        for attempt in range(1, _TRIES + 1):
            try:
                with self._pool.connection() as connection, connection.transaction(), connection.cursor() as cursor:
                    cursor.execute("SET LOCAL statement_timeout = 0")
                    return work(cursor)
            except (psycopg.Error, PoolTimeout) as error:
                if attempt == _TRIES or not _may_succeed(error):
                    raise self.explained(error) from None
            time.sleep(min(0.05 * 2**attempt, _MAX_PAUSE) * random.uniform(0.5, 1))  # noqa: S311 - a pause
        raise AssertionError  # the loop returns or raises

    def explained(self, error: Exception) -> KnowledgeBaseError:
        """What the server or its absence comes to, without the password."""
        text = " ".join(str(error).split())
        for secret in self._secrets:
            text = text.replace(secret, "***")
        if isinstance(error, psycopg.errors.QueryCanceled):
            return GraphTimeout(f"{self.where}: a statement took longer than {self.statement_seconds} seconds")
        if isinstance(error, psycopg.OperationalError | PoolTimeout):
            return GraphUnavailable(f"{self.where}: no connection to the graph: {text}")
        return KnowledgeBaseError(f"{self.where}: {text}")

    def _configure(self, connection: Connection[Any]) -> None:
        accept_arrays(connection)
        connection.execute(_SETTINGS)
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.schema)))
        limit = sql.Literal(max(1, round(self.statement_seconds * 1000)))
        connection.execute(sql.SQL("SET statement_timeout TO {}").format(limit))


def _may_succeed(error: Exception) -> bool:
    # whoever has waited for a connection in vain has waited long enough
    lost = isinstance(error, psycopg.OperationalError) and not isinstance(
        error, psycopg.errors.QueryCanceled | PoolTimeout
    )
    return isinstance(error, _AGAIN) or lost


def masked(url: str) -> str:
    """A connection URL without its password.

    >>> masked("postgresql://anna:secret@db.example/kb?sslpassword=x"), masked("host=db password='a b' user=anna")
    ('postgresql://anna:***@db.example/kb?sslpassword=***', 'host=db password=*** user=anna')
    """
    return _PASSWORD_OPTION.sub(r"\1***", _PASSWORD_IN_ADDRESS.sub(r"\1:***", url, count=1))


def _secrets(url: str) -> list[str]:
    """What must never be shown."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise KnowledgeBaseError(
            f"{masked(url)}: is no connection URL; it looks like postgresql://user:password@host:5432/database"
        ) from None
    return [str(value) for name, value in parts.items() if "password" in name and value]
