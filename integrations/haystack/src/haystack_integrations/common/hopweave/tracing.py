"""Tags of our components for Haystack's tracer."""

from collections.abc import Sequence
from typing import Any

from haystack.tracing.tracer import is_tracing_enabled, tracer

from hopweave.hit import Hit


def tag(kind: str, hits: Sequence[Hit], **tags: Any) -> None:
    """
    Tag the current span with what a component did; texts only where content tracing is switched on.

    :param kind: What the component is called in recipes.
    :param hits: What it hands on.
    :param tags: Whatever else is worth knowing.
    """
    span = tracer.current_span()
    if span is None or not is_tracing_enabled():
        return
    scores = [hit.score for hit in hits if hit.score is not None]
    span.set_tags(
        {f"hopweave.{name}": value for name, value in {"kind": kind, "hits": len(hits), **tags}.items()}
        | ({"hopweave.best_score": max(scores), "hopweave.lowest_score": min(scores)} if scores else {})
    )
    span.set_content_tag("hopweave.found", [hit.as_dict() for hit in hits])
