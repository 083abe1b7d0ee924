"""How probably the answer was found and what the question is after, as events and for response metadata."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent

from hopweave.pipeline import Result

dispatcher = get_dispatcher(__name__)

_collected: ContextVar[dict[str, Any] | None] = ContextVar("confidence", default=None)
_intents: ContextVar[dict[str, Any] | None] = ContextVar("intent", default=None)


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


class IntentEvent(BaseEvent):
    """
    What a question is after, and how a recipe weighs its signals because of that.

    Args:
        intent: Name of the intent.
        rule: The phrase or pattern that decided.
        weights: Share of each signal.

    """

    intent: str
    rule: str | None
    weights: dict[str, float]

    @classmethod
    def class_name(cls) -> str:
        """The name of the event."""
        return "IntentEvent"


def report_intent(result: Result) -> None:
    """
    Send an event with the intent of a question, if the recipe classifies questions, and hand it to whoever collects it.

    Args:
        result: What a pipeline of the core found.

    """
    intent = result.query.intent
    if intent is None:
        return
    weights = dict(intent.weights)
    dispatcher.event(IntentEvent(intent=intent.name, rule=intent.rule, weights=weights))
    collected = _intents.get()
    if collected is not None:
        collected.update({"name": intent.name, "rule": intent.rule, "also": list(intent.also), "weights": weights})


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
    with _collecting(_collected) as stated:
        yield stated


@contextmanager
def collected_intent() -> Iterator[dict[str, Any]]:
    """
    Collect the intent that is reported meanwhile.

    Yields:
        Name, rule, other intents that match, and weights, once it has been reported.

    """
    with _collecting(_intents) as stated:
        yield stated


@contextmanager
def _collecting(where: ContextVar[dict[str, Any] | None]) -> Iterator[dict[str, Any]]:
    stated: dict[str, Any] = {}
    token = where.set(stated)
    try:
        yield stated
    finally:
        where.reset(token)
