"""The folder that belongs to one running service: its jobs, and what its workers share."""

import asyncio
import fcntl
import os
import shutil
import signal
from typing import IO

from search_service.settings import Settings

_PARENT = "SERVICE_PARENT"


class InUse(Exception):
    """Another service has this folder."""


def claim(settings: Settings) -> IO[bytes]:
    """Take the folder for a new start; it is let go when the file that is returned is closed, however that happens."""
    folder = settings.state_folder
    folder.mkdir(parents=True, exist_ok=True)
    lock = (folder / "lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.close()
        raise InUse(f"state: {folder} is in use by another service") from error
    shutil.rmtree(settings.run_folder, ignore_errors=True)
    settings.run_folder.mkdir()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(settings.run_folder.absolute())
    os.environ[_PARENT] = str(os.getpid())
    return lock


async def end_with_parent(poll_seconds: float = 1.0) -> None:
    """A worker whose parent was killed ends, too, so that a new service finds the port free."""
    parent = int(os.environ.get(_PARENT, "0"))
    if parent in (0, os.getpid()):
        return
    while os.getppid() == parent:
        await asyncio.sleep(poll_seconds)
    os.kill(os.getpid(), signal.SIGTERM)


def is_alive(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
