"""The state of a file, to notice that it was written while it was read without locks.

SQLite shares a file by means of two more, `-wal` and `-shm`, which a reader makes if they are missing: it needs a
folder it can write to, and as it may not tidy up, they stay. A file without a log is complete, though, and can be read
as it is for as long as nobody changes it. So its state is compared before and after it is read.
"""

from pathlib import Path
from typing import NamedTuple

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
