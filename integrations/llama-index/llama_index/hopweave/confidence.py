"""How probably the answer was found, as an event of LlamaIndex's instrumentation and for response metadata."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent

from hopweave.pipeline import Result

dispatcher = get_dispatcher(__name__)

_collected: ContextVar[dict[str, Any] | None] = ContextVar("confidence", default=None)


class ConfidenceEvent(BaseEvent):
    """
    A recipe has found nodes, and how probably the answer is among them.

    Args:
        confidence: The probability.
        evidence: What it follows from.
        emptied_by: The stage of the recipe that dropped all nodes, if one did.

    """

    confidence: float
    evidence: dict[str, Any]
    emptied_by: str | None = None

    @classmethod
    def class_name(cls) -> str:
        """The name of the event."""
        return "ConfidenceEvent"


def report_confidence(result: Result) -> None:
    """
    Send an event with the confidence of a result, and hand it to whoever collects it.

    Args:
        result: What a pipeline of the core found.

    """
    if result.evidence is None:
        return
    stated = result.evidence.as_dict()
    dispatcher.event(ConfidenceEvent(confidence=stated["confidence"], evidence=stated, emptied_by=result.emptied_by))
    collected = _collected.get()
    if collected is not None:
        collected.update(stated)


@contextmanager
def collected_confidence() -> Iterator[dict[str, Any]]:
    """
    Collect the confidence that is reported meanwhile.

    Yields:
        The confidence and its evidence, once it has been reported.

    """
    stated: dict[str, Any] = {}
    token = _collected.set(stated)
    try:
        yield stated
    finally:
        _collected.reset(token)
