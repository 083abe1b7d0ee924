"""What a component did, where people look: the trace, the log and the output."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import logging
from haystack.tracing.tracer import is_tracing_enabled, tracer

from hopweave.hit import Hit

logger = logging.getLogger(__name__)


def tag(kind: str, hits: Sequence[Hit], **tags: Any) -> None:
    """
    Tag the current span with the kind of a component, its hits and what else is worth knowing.

    Texts are tagged only where content tracing is switched on.
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


def report(component: Any, kind: str, hits: Sequence[Hit], failures: Mapping[str, str], **tags: Any) -> dict[str, Any]:
    """
    Tag the current span, and log why a component goes on without optional sources or stages.

    Returns the reasons, by the name of the source or the kind of the stage, as the output `failures` if there are any.
    """
    tag(kind, hits, **{f"failed.{name}": reason for name, reason in failures.items()}, **tags)
    for name, reason in failures.items():
        logger.warning(
            "{component} goes on without '{source}': {reason}",
            component=type(component).__name__,
            source=name,
            reason=reason,
        )
    return {"failures": dict(failures)} if failures else {}
