"""A bounded cache that threads may share."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from threading import RLock
from typing import Generic, TypeVar

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

        >>> cache = LRUCache[str, int](max_entries=2)
        >>> cache.get_or_make("a", lambda: 1), cache.get_or_make("a", lambda: 2)
        (1, 1)
        """
        with self._lock:
            if key not in self._values:
                self.put(key, make())
            self._values.move_to_end(key)
            return self._values[key]

    def discard(self, key: Key) -> None:
        """Drop the value of a key, if there is one."""
        with self._lock:
            self._values.pop(key, None)

    def __iter__(self) -> Iterator[Key]:
        """The keys, least recently used first."""
        with self._lock:
            return iter(tuple(self._values))

    def __len__(self) -> int:
        return len(self._values)
