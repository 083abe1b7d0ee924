"""A bounded cache that threads may share."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import RLock
from typing import Generic, TypeVar

from hopweave.concurrency.once import Once

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LRUCache(Generic[Key, Value]):
    """The most recently used values by key; when there are more than `max_entries`, the least recently used goes.

    >>> cache = LRUCache[str, int](max_entries=2)
    >>> cache.put("a", 1); cache.put("b", 2); cache.get("a"); cache.put("c", 3)
    1
    >>> list(cache)
    ['a', 'c']
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._lock = RLock()
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._making: dict[Key, Once[Value]] = {}

    def get(self, key: Key, default: Value | None = None) -> Value | None:
        """The value of a key, which is then the most recently used; `default` if there is none."""
        with self._lock:
            if key not in self._values:
                return default
            self._values.move_to_end(key)
            return self._values[key]

    def put(self, key: Key, value: Value) -> None:
        """Keep a value under a key, in place of the one that is there."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._max_entries:
                self._values.popitem(last=False)

    def get_or_make(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key; if there is none, `make` is called, once for all threads that ask meanwhile.

        Threads that ask for another key do not wait.

        >>> cache = LRUCache[str, int](max_entries=2)
        >>> cache.get_or_make("a", lambda: 1), cache.get_or_make("a", lambda: 2)
        (1, 1)
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
            making = self._making.setdefault(key, Once())
        try:
            value = making.get_or_make(make)
        except BaseException:
            self._finish(key, making)
            raise
        with self._lock:
            if self._finish(key, making):
                self.put(key, value)
        return value

    def _finish(self, key: Key, making: Once[Value]) -> bool:
        """Whether this was the first thread to finish, and the key was not discarded meanwhile."""
        with self._lock:
            first = self._making.get(key) is making
            if first:
                del self._making[key]
            return first

    def discard(self, key: Key) -> None:
        """Drop the value of a key, if there is one."""
        with self._lock:
            self._values.pop(key, None)
            self._making.pop(key, None)  # a value that is being made is given to those who wait, and not kept

    def __iter__(self) -> Iterator[Key]:
        """The keys, least recently used first."""
        with self._lock:
            return iter(tuple(self._values))

    def __len__(self) -> int:
        return len(self._values)
