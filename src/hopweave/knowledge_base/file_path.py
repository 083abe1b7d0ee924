"""The path of a knowledge base file."""

import re
from pathlib import Path

from hopweave.concurrency.once import Once

_URL = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]+:/")  # Path("postgresql://…") has one slash; a drive has one letter


def check_path(path: object, parameter: str = "path") -> None:
    """Raise an error if this is not the path of a file. A URL, which may have a password, is not shown.

    >>> check_path("postgresql://anna:secret@db/kb", "knowledge_base")
    Traceback (most recent call last):
        ...
    ValueError: knowledge_base: must be the path of a file, not a URL; the URL of a graph is given as graph
    """
    if not isinstance(path, str | Path):
        raise ValueError(f"{parameter}: must be the path of a file, but got a {type(path).__name__}")
    if _URL.match(str(path)):
        raise ValueError(f"{parameter}: must be the path of a file, not a URL; the URL of a graph is given as graph")


class FilePath:
    """A path as a user wrote it, and the file that it led to when it was first used.

    A component is made long before its file is opened, and the current folder may change meanwhile and afterwards. What
    it was when the file was first asked for counts from then on.

    >>> FilePath("kb.db").written
    'kb.db'
    >>> FilePath("kb.db").absolute().is_absolute()
    True
    """

    def __init__(self, path: str | Path, parameter: str = "knowledge_base") -> None:
        check_path(path, parameter)
        self.written = str(path)
        self._absolute = Once[Path]()

    def absolute(self) -> Path:
        """The file, with the home folder for `~`."""
        return self._absolute.get_or_make(lambda: Path(self.written).expanduser().absolute())
