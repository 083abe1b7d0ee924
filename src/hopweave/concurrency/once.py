"""Values that are made when first needed: once, by one thread, and kept for good or as long as they are asked for."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from functools import partial, wraps
from threading import Lock, RLock
from typing import Any, Generic, ParamSpec, TypeVar, overload

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Plain = TypeVar("Plain", str, int)
Default = TypeVar("Default")
Owner = TypeVar("Owner")
P = ParamSpec("P")


class Once(Generic[Value]):
    """A value that one thread makes when it is first needed.

    The other threads wait for it (`get_or_make`) or do without it for now (`get_or_make_unless_busy`). If making it
    fails, the error goes to the thread that made it, nothing is kept, and the next thread tries again.

    `make` is given with each call and not kept, so that a `Once` in an object makes no reference cycle with it.

    >>> total = Once[int]()
    >>> total.get(), total.get_or_make(lambda: 6 * 7), total.get_or_make(lambda: 0), total.get()
    (None, 42, 42, 42)
    """

    __slots__ = ("_lock", "_made")

    def __init__(self) -> None:
        self._lock = RLock()
        self._made: tuple[Value] | None = None

    @overload
    def get(self) -> Value | None: ...

    @overload
    def get(self, default: Default) -> Value | Default: ...

    def get(self, default: Any = None) -> Any:
        """The value if it has been made, else `default`; never waits."""
        made = self._made
        return default if made is None else made[0]

    def __getstate__(self) -> tuple[tuple[Value] | None]:
        """The value if it has been made: the lock stays here when an object is copied or pickled."""
        return (self._made,)

    def __setstate__(self, state: tuple[tuple[Value] | None]) -> None:
        self._lock = RLock()
        (self._made,) = state

    def get_or_make(self, make: Callable[[], Value]) -> Value:
        """The value; if another thread is making it, wait for that."""
        made = self._made
        if made is None:
            with self._lock:
                made = self._made
                if made is None:
                    made = self._made = (make(),)
        return made[0]

    def get_or_make_unless_busy(self, make: Callable[[], Value]) -> Value | None:
        """The value; None while another thread is making it, so that the caller can go on in a slower way.

        >>> Once[int]().get_or_make_unless_busy(lambda: 6 * 7)
        42
        """
        made = self._made
        if made is None:
            if not self._lock.acquire(blocking=False):
                return None
            try:
                return self.get_or_make(make)
            finally:
                self._lock.release()
        return made[0]


class once_property(Generic[Owner, Value]):  # noqa: N801 - it is used as `property` is
    """`functools.cached_property`, but made by one thread: the others wait for the value.

    >>> class Corpus:
    ...     @once_property
    ...     def words(self) -> int:
    ...         print("counting")
    ...         return 7
    >>> corpus = Corpus()
    >>> corpus.words + corpus.words
    counting
    14
    """

    def __init__(self, function: Callable[[Owner], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._making = f"making {name}"  # no attribute has such a name

    @overload
    def __get__(self, instance: None, owner: type) -> "once_property[Owner, Value]": ...

    @overload
    def __get__(self, instance: Owner, owner: type | None = None) -> Value: ...

    def __get__(self, instance: Owner | None, owner: type | None = None) -> Any:
        if instance is None:
            return self
        attributes = instance.__dict__
        making: Once[Value] = attributes.setdefault(self._making, Once())
        # another thread may have stored the value and dropped its `Once` since this attribute was looked up
        value = attributes[self._name] if self._name in attributes else making.get_or_make(self._make(instance))
        attributes[self._name] = value  # where Python finds it from now on without coming here
        attributes.pop(self._making, None)
        return value

    def _make(self, instance: Owner) -> Callable[[], Value]:
        return partial(self._function, instance)


def once(max_entries: int | None = None) -> Callable[[Callable[P, Value]], Callable[P, Value]]:
    """`functools.cache`, but each value is made by one thread: the others wait for it, and only for this one.

    With `max_entries`, the values of the latest calls are kept: at most so many, and at least half as many.

    >>> @once()
    ... def load(model: str) -> str:
    ...     print("loading", model)
    ...     return model.upper()
    >>> load("a"), load("a")
    loading a
    ('A', 'A')
    """

    def decorate(function: Callable[P, Value]) -> Callable[P, Value]:
        lock = Lock()
        # two dictionaries, as a hit then needs no lock: when the newer has half of the entries, it becomes the older
        newer: dict[Hashable, Once[Value]] = {}
        older: dict[Hashable, Once[Value]] = {}

        def entry(key: Hashable) -> Once[Value]:
            nonlocal newer, older
            with lock:
                found = newer.get(key) or older.get(key) or Once()
                if max_entries is not None and len(newer) >= max(1, max_entries // 2):
                    newer, older = {}, newer
                newer[key] = found
                return found

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> Value:
            key: Hashable = (args, tuple(sorted(kwargs.items()))) if kwargs else args
            found = newer.get(key) or entry(key)
            made = found._made
            return found.get_or_make(partial(function, *args, **kwargs)) if made is None else made[0]

        return call

    return decorate


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


WORDS_KEPT = 10_000
"""For functions of words: questions bring new numbers, names and spelling mistakes for as long as a service runs."""


def string_cache(size: int) -> Callable[[Callable[[str], Plain]], Callable[[str], Plain]]:
    """Keep what a function returns for up to `size` strings: those of the latest calls, and at least half as many.

    The garbage collector visits every entry of a `functools.lru_cache`, so that with some 100,000 of them all threads
    wait for a fifth of a second. A plain dictionary from strings to strings or numbers is passed over. There are two:
    when the newer one has half of `size`, it becomes the older one.

    >>> double = string_cache(2)(lambda text: 2 * text)
    >>> double("a"), double("b"), double("c"), double("a")
    ('aa', 'bb', 'cc', 'aa')
    """

    def decorate(function: Callable[[str], Plain]) -> Callable[[str], Plain]:
        newer: dict[str, Plain] = {}
        older: dict[str, Plain] = {}

        @wraps(function)
        def call(text: str) -> Plain:
            nonlocal newer, older
            value = newer.get(text)
            if value is None:
                value = older.get(text)
                if value is None:
                    value = function(text)
                if len(newer) >= max(1, size // 2):
                    newer, older = {}, newer
                newer[text] = value
            return value

        return call

    return decorate
