"""Failures of optional sources and stages, as log lines, instrumentation events and response metadata."""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent

dispatcher = get_dispatcher(__name__)
logger = logging.getLogger(__name__)

_collected: ContextVar[dict[str, str] | None] = ContextVar("collected", default=None)


class SourceFailedEvent(BaseEvent):
    """
    An optional source or stage of a recipe failed, and the answer was found without it.

    Args:
        source: Name of the source, or kind of the stage.
        reason: What happened.

    """

    source: str
    reason: str

    @classmethod
    def class_name(cls) -> str:
        """The name of the event."""
        return "SourceFailedEvent"


def report(failures: Mapping[str, str]) -> None:
    """
    Log failures, send an event for each, and hand them to whoever collects them.

    Args:
        failures: What happened, by name of the source or kind of the stage.

    """
    for name, reason in failures.items():
        logger.warning("%r failed and was skipped: %s", name, reason)
        dispatcher.event(SourceFailedEvent(source=name, reason=reason))
    collected = _collected.get()
    if collected is not None:
        collected.update(failures)


@contextmanager
def collected_failures() -> Iterator[dict[str, str]]:
    """
    Collect the failures that are reported meanwhile.

    Yields:
        The failures so far, by name of the source.

    """
    failures: dict[str, str] = {}
    token = _collected.set(failures)
    try:
        yield failures
    finally:
        _collected.reset(token)
