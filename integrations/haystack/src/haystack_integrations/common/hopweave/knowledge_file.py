"""A knowledge base file that components of one process share."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from weakref import WeakSet, WeakValueDictionary

from hopweave import KnowledgeBase


class _Shared:
    """An open knowledge base and whoever uses it."""

    def __init__(self, knowledge_base: KnowledgeBase) -> None:
        self.knowledge_base = knowledge_base
        self.holders: WeakSet[KnowledgeFile] = WeakSet()


_open: WeakValueDictionary[Path, _Shared] = WeakValueDictionary()
_changing = Lock()


class KnowledgeFile:
    """
    Opens a file for reading when it is first asked for; whoever names the same file shares what is in memory.

    It can be copied and pickled: the copy is not open.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._shared: _Shared | None = None

    def open(self) -> KnowledgeBase:
        """
        The knowledge base, opened now if nobody has done so before.

        :returns: A knowledge base that can only be read.
        """
        shared = self._shared
        if shared is None:
            key = Path(self.path).resolve()
            with _changing:
                shared = _open.get(key)
                if shared is None:
                    shared = _open[key] = _Shared(KnowledgeBase.open(self.path, read_only=True))
                shared.holders.add(self)
                self._shared = shared
        return shared.knowledge_base

    def close(self) -> None:
        """Let go of the file; the last to do so closes it."""
        with _changing:
            shared, self._shared = self._shared, None
            if shared is None:
                return
            shared.holders.discard(self)
            if not shared.holders:
                _open.pop(Path(self.path).resolve(), None)
                shared.knowledge_base.close()

    def __reduce__(self) -> tuple[Callable[[str], "KnowledgeFile"], tuple[str]]:
        return KnowledgeFile, (self.path,)
