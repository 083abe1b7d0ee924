"""Work in a thread of its own."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


def in_thread(work: Callable[[], T]) -> "Future[T]":
    """Start something beside everything else, in the caller's context.

    A daemon thread and not one of a pool: work that hangs must hold up neither other work nor the program's end.

    >>> in_thread(lambda: 6 * 7).result()
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
