"""What a forked child must not share with its parent: connections to a file, and locks that nobody will release.

SQLite keeps the locks of a process in a table of its own, and a child that inherits this table believes that it has
locks which only its parent has. So connections are closed before a process forks, and opened again, on both sides, when
they are next needed. A connection that another thread uses at this moment is waited for, but not for ever; where one
is left, the child refuses to use the file.
"""

import os
from contextlib import suppress
from typing import Any
from weakref import WeakSet


class ForkAware:
    """Something that has to know when the process forks: `watch_forks` sees to that."""

    __slots__ = ("__weakref__",)

    def before_fork(self) -> None:
        """In the parent, before it forks."""

    def after_fork(self, *, in_child: bool) -> None:
        """In the parent and in the child, after it."""


_all: "WeakSet[ForkAware]" = WeakSet()
_forking: list[ForkAware] = []


def watch_forks(one: ForkAware) -> None:
    """Call the methods of an object at every fork of this process, for as long as it lives."""
    _all.add(one)


def leave_open(connection: Any) -> None:
    """Keep an object for ever, even beyond the end of the interpreter.

    A connection of the parent must not be closed by the child, which would remove the parent's log.
    """
    with suppress(Exception):
        import ctypes

        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))


def _before() -> None:
    _forking[:] = _all
    for one in _forking:
        one.before_fork()


def _after(*, in_child: bool) -> None:
    for one in _forking:
        one.after_fork(in_child=in_child)
    _forking.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing forks
    os.register_at_fork(
        before=_before,
        after_in_parent=lambda: _after(in_child=False),
        after_in_child=lambda: _after(in_child=True),
    )
