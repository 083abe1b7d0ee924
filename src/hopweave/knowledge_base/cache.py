"""A cache of results by question, for a few minutes."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, Generic, TypeVar

from hopweave.concurrency.once import LRUCache
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.query import Query

T = TypeVar("T")


class QueryCache(ForkAware, Generic[T]):
    """A bounded cache whose entries live for `seconds`, safe to share between threads.

    Keys contain the version of the knowledge base, so any write makes the old answers unreachable; the least
    recently used ones make room.

    >>> cache = QueryCache(max_entries=1)
    >>> cache.put("a", 1); cache.put("b", 2)
    >>> cache.get("a"), cache.get("b")
    (None, 2)
    """

    def __init__(
        self, *, seconds: float = 300.0, max_entries: int = 1024, clock: Callable[[], float] = monotonic
    ) -> None:
        if seconds <= 0 or max_entries < 1:
            raise ValueError(f"seconds must be above 0 and max_entries at least 1, but got {seconds}, {max_entries}")
        self.seconds = seconds
        self._max_entries = max_entries
        self._clock = clock
        self._entries = LRUCache[str, tuple[float, T]](max_entries)
        watch_forks(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled, it is empty: another process asks for itself."""
        return partial(QueryCache, seconds=self.seconds, max_entries=self._max_entries), ()

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, start again: another thread may have been in the middle of a change."""
        if in_child:
            self._entries = LRUCache(self._max_entries)

    def key(self, query: Query, *others: Any) -> str | None:
        """The key of a question and of what else an answer depends on; None if a filter is a function."""
        if callable(query.filters):
            return None
        vector = None if query.vector is None else query.vector.tobytes()
        # answers may be as old as the cache keeps them, so questions asked that close together may share one
        period = query.now.timestamp() // self.seconds
        understood = (query.intent, query.plan, query.skip)
        asked = (query.text, query.vector_texts, vector, period, query.filters, query.tenant, *understood)
        return repr((*others, *asked))

    def get(self, key: str) -> T | None:
        """What was put under this key, unless it is too old."""
        stored = self._entries.get(key)
        if stored is None:
            return None
        expires, value = stored
        if expires <= self._clock():
            self._entries.discard(key)
            return None
        return value

    def put(self, key: str, value: T) -> None:
        """Keep a value for a while."""
        self._entries.put(key, (self._clock() + self.seconds, value))

    def __len__(self) -> int:
        return len(self._entries)
