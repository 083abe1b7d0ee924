"""Where a graph lives, for components that are made long before the graph is asked."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet, finalize

from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.port import GraphPort
from hopweave.graph_store.store import GraphStore
from hopweave.graph_store.urls import has_password, is_url, schemes

Secret = Callable[[], str | None]
"""A function that gives a path or a URL, such as `secret.resolve_value` of Haystack's secrets."""


class GraphLocation:
    """The path or the URL of a graph. It is opened when it is first asked for, and shared within the process.

    Sources can ask it as they ask a `GraphStore`, and see the graph as it is then. It can be copied and pickled: the
    copy is not open. A URL with a password must be given as a secret, so that it is in no settings, logs or messages.
    Readers open the graph read-only: who only answers needs no right to write, and a mistyped name is an error instead
    of a new graph with nothing in it.

    >>> GraphLocation("graph.db")
    GraphLocation('graph.db')
    >>> GraphLocation("postgresql+psycopg://anna@db/kb")
    Traceback (most recent call last):
        ...
    ValueError: graph: a URL must begin with postgresql:// or postgres://, but this begins with postgresql+psycopg://
    """

    def __init__(
        self,
        where: str | Path | Secret,
        schema: str = "hopweave",
        *,
        writable: bool = False,
        builders: Sequence[GraphBuilder] | None = None,
    ) -> None:
        if not callable(where):
            where = _checked(where)
            if is_url(where) and _may_have_password(where):
                raise ValueError(
                    "graph: a URL with a password must be a secret: Haystack's Secret, or a SecretStr of pydantic; or "
                    "leave the password to the environment variable PGPASSWORD or to a password file"
                )
        self._where = where
        self._options: dict[str, Any] = {"schema": schema, "read_only": not writable, "builders": builders}
        self._opened: _Opened | None = None
        self._files: dict[str, str] = {}  # by the path as it was written, so that `os.chdir` changes nothing

    def __repr__(self) -> str:
        return f"GraphLocation({'a secret' if callable(self._where) else repr(self._where)})"

    def __reduce__(self) -> tuple[Callable[..., "GraphLocation"], tuple[Any, ...]]:
        options = {"writable": not self._options["read_only"], "builders": self._options["builders"]}
        return partial(GraphLocation, **options), (self._where, self._options["schema"])

    def open(self) -> GraphStore:
        """The graph, opened now unless it is open in this process.

        If another file has taken the place of the one that was open, or the secret has another value, it is opened
        anew.
        """
        where = self._file(self._value())
        which = (os.getpid(), _place(where))
        opened = self._opened
        if opened is None or opened.which != which:
            with _opening:
                opened = self._opened = _shared(where, which, self._options)
        return opened.store

    def close(self) -> None:
        """Let go of the graph, which the last to do so closes."""
        self._opened = None

    @property
    def graph(self) -> GraphPort:
        """The graph as it is now."""
        return self.open().graph

    @property
    def version(self) -> int:
        """Grows with every write."""
        return self.open().version

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""
        return self.open().visible(tenant, ids)

    def _file(self, where: str) -> str:
        """The file that a path led to when it was first asked for; a URL as it is."""
        if is_url(where):
            return where
        return self._files.setdefault(where, str(Path(where).expanduser().absolute()))

    def _value(self) -> str:
        if not callable(self._where):
            return self._where
        value = self._where()
        if not value:
            raise ValueError("graph: the secret has no value")
        return _checked(value)


def _checked(where: str | Path) -> str:
    """A path or a URL; whatever is neither is refused, before a file of that name is made. No value is shown."""
    if not isinstance(where, str | Path):
        raise ValueError(f"graph: must be a path, a URL or a secret, but got a {type(where).__name__}")
    text = str(where)
    if isinstance(where, Path) or is_url(text):
        return text
    if "://" in text:
        scheme = text.partition("://")[0]
        allowed = " or ".join(f"{one}://" for one in schemes())
        raise ValueError(f"graph: a URL must begin with {allowed}, but this begins with {scheme}://")
    if "=" in text and ("host" in text or "dbname" in text or "password" in text):
        raise ValueError("graph: write a connection string as a URL: postgresql://user@host:5432/database")
    return text


def _may_have_password(url: str) -> bool:
    try:
        return has_password(url)
    except ValueError:  # which part of it would be the password is not known
        return True


class _Opened:
    """A graph that is closed when no location refers to it any more."""

    def __init__(self, store: GraphStore, which: Any, options: dict[str, Any]) -> None:
        self.store, self.which, self.options = store, which, options
        finalize(self, _close, store, os.getpid())


def _close(store: GraphStore, process: int) -> None:
    if os.getpid() == process:  # connections belong to the process that made them
        store.close()


_all_opened: WeakSet[_Opened] = WeakSet()
_opening = Lock()


def _renew_lock() -> None:
    """In a child, nobody is opening anything."""
    global _opening  # noqa: PLW0603 - a lock that a thread of the parent holds is never released
    _opening = Lock()


os.register_at_fork(after_in_child=_renew_lock)


def _shared(where: str, which: Any, options: dict[str, Any]) -> _Opened:
    known = next((one for one in _all_opened if one.which == which and one.options == options), None)
    if known is not None:
        return known
    store = GraphStore.open(where if is_url(where) else Path(where), **options)
    opened = _Opened(store, (which[0], _place(where)), options)  # a file may have been made
    _all_opened.add(opened)
    return opened


def _place(where: str) -> Any:
    """The identity of a graph: its URL, or which file is at the path now."""
    if is_url(where):
        return where
    path = Path(where).resolve()
    try:
        found = path.stat()
    except OSError:
        return path
    return path, found.st_dev, found.st_ino
