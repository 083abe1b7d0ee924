"""A folder for a file that is gone when it is closed."""

import os
import shutil
import tempfile
from pathlib import Path
from weakref import finalize


class TemporaryFolder:
    """Removed by `cleanup`, or when nobody refers to it any more, though not by a forked child of the process.

    >>> folder = TemporaryFolder()
    >>> folder.cleanup()
    >>> folder.path.exists()
    False
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="hopweave-"))
        self.cleanup = finalize(self, _remove, self.path, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
