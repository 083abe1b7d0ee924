"""Connections that do not release one another's locks.

POSIX locks belong to a process and a file, and closing any descriptor of the file drops all of them. SQLite sees to
that among connections with locks, but not for one that reads without locks, nor for a file that is opened by other
means. A writer in the same process would go on without its lock: another process could take itself for the last one
that has the file open and remove the log, and with it what is written next. So what has no locks is closed only while
no connection of this process has any.
"""

import sqlite3
from collections import Counter
from pathlib import Path
from threading import RLock

from hopweave.knowledge_base.file.file_state import FileState, file_at, state_without_log
from hopweave.knowledge_base.file.fork import ForkAware, watch_forks

_File = tuple[int, int]
"""Device and inode."""


class Connection(sqlite3.Connection):
    """A connection; `as_found` is the state of a file that is read without locks, as it was when it was opened."""

    as_found: FileState | None = None
    file: _File | None = None

    def close(self) -> None:
        """Close it now, or together with the last connection of this process that has locks on the file."""
        with _here.guard:
            if self.as_found is not None and _here.with_locks[self.file]:
                _here.waiting.add(self)
                return
            super().close()
            _here.closed(self)


class _Here(ForkAware):
    """The connections of this process."""

    def __init__(self) -> None:
        self.guard = RLock()
        self.with_locks: Counter[_File | None] = Counter()
        self.without_locks: set[Connection] = set()  # kept, as one that is collected as garbage would be closed
        self.waiting: set[Connection] = set()  # to be closed

    def opened(self, connection: Connection) -> None:
        """Take note of a connection."""
        if connection.as_found is None:
            self.with_locks[connection.file] += 1
        else:
            self.without_locks.add(connection)

    def closed(self, connection: Connection) -> None:
        """It is closed; so are those that waited for it, if it was the last with locks on its file."""
        self.without_locks.discard(connection)
        self.waiting.discard(connection)
        file, connection.file = connection.file, None  # it may be closed again
        if connection.as_found is None and file is not None:
            self.with_locks[file] -= 1
            for one in list(self.waiting) if not self.with_locks[file] else ():
                if one.file == file:
                    one.close()

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, start again: connections were closed before it was forked, or belong to the parent."""
        if in_child:
            self.guard, self.with_locks = RLock(), Counter()


_here = _Here()
watch_forks(_here)


def open_connection(path: Path, *, timeout: float, read_only: bool) -> Connection:
    """A connection to a file, which need not exist unless it is only to be read.

    A file that nobody writes, as far as one can see, is read without locks.
    """
    with _here.guard:
        state = state_without_log(path) if read_only and not _here.with_locks[file_at(path)] else None
        access = "mode=rwc" if not read_only else "mode=ro" if state is None else "mode=ro&immutable=1"
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{access}",
            uri=True,
            timeout=timeout,
            isolation_level=None,
            check_same_thread=False,
            factory=Connection,
        )
        connection.as_found, connection.file = state, file_at(path)
        _here.opened(connection)
        return connection
