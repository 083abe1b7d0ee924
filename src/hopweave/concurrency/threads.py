"""Work in threads of its own, and calls from such a thread to the event loop that waits for it."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import wraps
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def start_in_thread(work: Callable[[], T]) -> "Future[T]":
    """Start a function in a thread of its own, in the caller's context.

    A daemon thread and not one of a pool: work that hangs must hold up neither other work nor the program's end.

    >>> start_in_thread(lambda: 6 * 7).result()
    42
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()
    context = copy_context()

    def run() -> None:
        try:
            result = context.run(work)
        except BaseException as error:  # whoever waits for the result gets the error instead
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=run, daemon=True, name="hopweave").start()
    return future


def share_with_pools(variable: ContextVar[T | None]) -> None:
    """From now on, work that is given to a thread pool sees the value that a context variable has where it is given.

    Pools of Python's do not take over the context, and frameworks run retrievers in such pools. What is given where the
    variable has no value runs as before.

    >>> colour: ContextVar[str | None] = ContextVar("colour", default=None)
    >>> share_with_pools(colour)
    >>> _ = colour.set("red")
    >>> with ThreadPoolExecutor(1) as pool:
    ...     pool.submit(colour.get).result()
    'red'
    """
    submit: Callable[..., Future[Any]] = ThreadPoolExecutor.submit

    def within(value: T, work: Callable[..., Any], arguments: Any, named: Any) -> Any:
        token = variable.set(value)
        try:
            return work(*arguments, **named)
        finally:
            variable.reset(token)

    @wraps(submit)
    def submit_within(pool: ThreadPoolExecutor, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        value = variable.get()
        if value is None:
            return submit(pool, work, *given, **named)
        return submit(pool, within, value, work, given, named)

    ThreadPoolExecutor.submit = submit_within  # type: ignore[method-assign, assignment]


_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("hopweave_loop", default=None)


@contextmanager
def bind_event_loop() -> Iterator[None]:
    """Within it, `run_on_loop` in threads that are started here runs calls on the event loop that runs now."""
    token = _loop.set(asyncio.get_running_loop())
    try:
        yield
    finally:
        _loop.reset(token)


def can_run_on_loop() -> bool:
    """Return whether `run_on_loop` can be called: only in a thread started within `bind_event_loop`."""
    loop = _loop.get()
    if loop is None:
        return False
    try:
        return asyncio.get_running_loop() is not loop
    except RuntimeError:  # this thread runs no loop
        return True


def run_on_loop(work: Coroutine[Any, Any, T]) -> T:
    """Make an asynchronous call on the event loop of `bind_event_loop` and return its result.

    Clients of stores are bound to a loop. The thread waits, the loop goes on; see `can_run_on_loop`.
    """
    loop = _loop.get()
    if loop is None:
        work.close()
        raise RuntimeError("no event loop is bound here; see bind_event_loop")
    return asyncio.run_coroutine_threadsafe(work, loop).result()


async def run_in_thread(work: Callable[[], T]) -> T:
    """Run a function in its own thread, so that it does not block the event loop, and return its result."""
    return await asyncio.wrap_future(start_in_thread(work))
