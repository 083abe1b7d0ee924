"""Values that are made when they are first needed: once, by one thread."""

from collections.abc import Callable, Hashable
from functools import partial, wraps
from threading import Lock, RLock
from typing import Any, Generic, ParamSpec, TypeVar, overload

Value = TypeVar("Value")
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
