"""What a process has to know of a file that others use too: its state, its locks, its log, and what a fork does to it.

SQLite shares a file by means of two more, `-wal` and `-shm`, which a reader makes if they are missing: it needs a
folder it can write to, and as it may not tidy up, they stay. A file without a log is complete, though, and can be read
as it is for as long as nobody changes it. So its state is compared before and after it is read.

POSIX locks belong to a process and a file, and closing any descriptor of the file drops all of them. SQLite sees to
that among connections with locks, but not for one that reads without locks, nor for a file that is opened by other
means. A writer in the same process would go on without its lock: another process could take itself for the last one
that has the file open and remove the log, and with it what is written next. So a connection without locks is closed
only while no connection of this process has any.

A forked child must share neither connections nor locks with its parent. SQLite keeps the locks of a process in a table
of its own, and a child that inherits this table believes that it has locks which only its parent has. So connections
are closed before a process forks, and opened again, on both sides, when they are next needed. A connection that another
thread uses at this moment is waited for, but not for ever; where one is left, the child refuses to use the file.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
import numpy.typing as npt

_WRITES_AHEAD = b"\x02\x02"  # in the header of a file that is written by way of a log


class FileState(NamedTuple):
    """What changes when somebody writes to a file or puts another in its place."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def file_state(path: Path) -> FileState | None:
    """The state of the file that is now at a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return FileState(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def file_at(path: Path) -> tuple[int, int] | None:
    """Which file is at a path now, by device and inode; None if there is none."""
    state = file_state(path)
    return state and (state.device, state.inode)


def state_without_log(path: Path) -> FileState | None:
    """The state of a file that has no log at this moment, so that it can be read by itself; None if it has one."""
    state = file_state(path)
    try:
        with path.open("rb") as file:
            complete = file.read(20)[18:] == _WRITES_AHEAD
    except OSError:
        return None
    return state if complete and not has_log(path) else None


def has_log(path: Path) -> bool:
    """Whether a log lies beside a file that holds more than the file itself."""
    log = file_state(Path(f"{path}-wal"))
    return log is not None and log.size > 0


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


Words = npt.NDArray[np.uint32]

# The log is described in https://www.sqlite.org/fileformat2.html#the_write_ahead_log. SQLite stops reading it at the
# first page that is damaged, without a word. The checksum of a page is a linear recurrence over its 32-bit words, so
# that of many pages is computed at once: after n pairs of words (a, b), the state s becomes
# Mⁿ s + Σ Mⁿ⁻¹⁻ⁱ (aᵢ, aᵢ + bᵢ) with M = (1 1; 1 2), modulo 2³².
_HEADER, _FRAME = 32, 24  # bytes
_LITTLE_ENDIAN, _BIG_ENDIAN = 0x377F0682, 0x377F0683
_M = np.array([[1, 1], [1, 2]], np.uint32)


def log_problems(path: Path) -> Iterator[str]:
    """What is wrong with the log of a file, in one sentence.

    A process that is killed may leave pages that belong to no commit, the last of them half written. So a page counts
    as damaged only if a commit of the same round lies behind it.
    """
    try:
        data = Path(f"{path}-wal").read_bytes()
    except OSError:
        return
    if len(data) < _HEADER + _FRAME:
        return
    magic, page_size = (int.from_bytes(data[place : place + 4], "big") for place in (0, 8))
    order = {_LITTLE_ENDIAN: "<u4", _BIG_ENDIAN: ">u4"}.get(magic)
    head = [] if order is None else _state(np.frombuffer(data[:24], order).astype(np.uint32))
    if head != [int.from_bytes(data[place : place + 4], "big") for place in (24, 28)] or not 512 <= page_size <= 65536:
        yield "storage: the head of the log is damaged: changes that are only in the log cannot be read"
        return
    frames = np.frombuffer(data, np.uint8)[_HEADER:]
    frames = frames[: len(frames) // (_FRAME + page_size) * (_FRAME + page_size)].reshape(-1, _FRAME + page_size)
    of_this_round = (frames[:, 8:16] == np.frombuffer(data[16:24], np.uint8)).all(axis=1)
    commits = np.flatnonzero(of_this_round & frames[:, 4:8].any(axis=1))
    written = int(commits[-1]) + 1 if len(commits) else 0
    sound = _sound_frames(frames[:written], str(order), head) if of_this_round[:written].all() else 0
    if sound < written - 1:
        yield "storage: a page of the log is damaged: changes that were written after it cannot be read"


def _sound_frames(frames: npt.NDArray[np.uint8], order: str, state: list[int]) -> int:
    """How many frames from the first on have the checksum that they state."""
    stated = np.ascontiguousarray(frames[:, 16:24]).view(">u4")
    summed = np.ascontiguousarray(np.concatenate([frames[:, :8], frames[:, _FRAME:]], axis=1))
    words = summed.view(order).astype(np.uint32)
    powers = _powers(words.shape[1] // 2)
    first, both = words[:, ::2], words[:, ::2] + words[:, 1::2]
    sums = [
        (first * powers[:-1, row, 0]).sum(axis=1, dtype=np.uint32)
        + (both * powers[:-1, row, 1]).sum(axis=1, dtype=np.uint32)
        for row in (0, 1)
    ]
    whole = powers[-1].tolist()
    for number, (one, other) in enumerate(zip(sums[0].tolist(), sums[1].tolist(), strict=True)):
        state = [
            (whole[0][0] * state[0] + whole[0][1] * state[1] + one) % 2**32,
            (whole[1][0] * state[0] + whole[1][1] * state[1] + other) % 2**32,
        ]
        if state != stated[number].tolist():
            return number
    return len(frames)


def _powers(pairs: int) -> npt.NDArray[np.uint32]:
    """The matrices that the pairs of words are multiplied by, in their order, and last the one for the state before."""
    powers = [np.eye(2, dtype=np.uint32)]
    for _ in range(pairs):
        powers.append((powers[-1] @ _M).astype(np.uint32))
    return np.stack([*powers[-2::-1], powers[-1]])


def _state(words: Words) -> list[int]:
    one, other = 0, 0
    for first, second in words.reshape(-1, 2).tolist():
        one = (one + first + other) % 2**32
        other = (other + second + one) % 2**32
    return [one, other]
