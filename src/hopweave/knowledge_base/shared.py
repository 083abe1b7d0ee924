"""One open knowledge base per file, however many components of a process use it."""

from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet, finalize

from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.file_path import check_path
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.knowledge_base.store import KnowledgeBase


class SharedKnowledgeBase(KnowledgeBase):
    """A knowledge base whose connections, indexes and graph are those of all who opened the same file the same way.

    `close` is for this one alone: the file is closed when the last of them is closed or gone.
    """

    def __init__(self, opened: "_Opened") -> None:
        self.__dict__.update(vars(opened.knowledge_base))
        self._opened: _Opened | None = opened

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is the path of its file; whoever unpickles it shares the file with others of that process."""
        options, path = (self._opened.options, self._opened.place) if self._opened else ({}, self.path.absolute())
        return partial(open_shared, **options), (path,)

    def close(self) -> None:
        """Let go of the file; the last to do so closes it."""
        closed: Any = _Closed(self.path)
        self._connections = self._snapshot = self._questions = self._writer = self._compaction = closed
        self._opened = None


def open_shared(
    path: str | Path, *, read_only: bool = True, allow_graph: bool = False, **options: Any
) -> SharedKnowledgeBase:
    """Open a file, or share it with whoever has opened it with the same options; those of `KnowledgeBase.open`.

    A file that was deleted or replaced since is not shared: this opens what is at the path now.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "kb.db")
    ...     KnowledgeBase.open(file).close()
    ...     with open_shared(file) as one, open_shared(file) as other:
    ...         one.graph is other.graph
    True
    """
    check_path(path)
    options = {"read_only": read_only, **options}
    with _opening:
        known = (one for one in _all_opened if one.file == _file_at(path) and one.options == options)
        opened = next(known, None) or _Opened(KnowledgeBase.open(path, allow_graph=True, **options), options)
        if not allow_graph:
            opened.knowledge_base.settings.check_documents(opened.knowledge_base.path)
        _all_opened.add(opened)
    return SharedKnowledgeBase(opened)


class _Opened:
    """A knowledge base that is closed when no `SharedKnowledgeBase` refers to it any more."""

    def __init__(self, knowledge_base: KnowledgeBase, options: dict[str, Any]) -> None:
        self.knowledge_base = knowledge_base
        self.options = options
        self.place = knowledge_base._connections.file
        self.file = _file_at(self.place)
        finalize(self, knowledge_base.close)


class _Closed:
    """Stands where the parts of a knowledge base were."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        raise KnowledgeBaseError(f"{self._path}: has been closed")

    def __call__(self, *_: Any) -> Any:
        raise KnowledgeBaseError(f"{self._path}: has been closed")


_all_opened: WeakSet[_Opened] = WeakSet()
_opening = Lock()


class _AfterFork(ForkAware):
    def after_fork(self, *, in_child: bool) -> None:
        """In a child, nobody is opening anything."""
        global _opening  # noqa: PLW0603 - a lock that a thread of the parent holds is never released
        if in_child:
            _opening = Lock()


_after_fork = _AfterFork()
watch_forks(_after_fork)


def _file_at(path: str | Path) -> tuple[Path, int, int] | None:
    """Which file a path leads to now; None if there is none."""
    place = Path(path).resolve()
    try:
        found = place.stat()
    except OSError:
        return None
    return place, found.st_dev, found.st_ino
