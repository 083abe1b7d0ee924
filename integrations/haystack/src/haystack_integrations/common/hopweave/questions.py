"""What Haystack knows of a question, as a query."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

import numpy as np
from haystack.utils.filters import document_matches_filter

from haystack_integrations.common.hopweave.documents import to_document
from hopweave.hit import Hit
from hopweave.query import Intent, Query, utc_now
from hopweave.timestamps import read_timestamp

SOCKETS: Mapping[str, Any] = {
    "intent": dict[str, Any] | None,
    "now": datetime | str | None,
    "query_embedding": list[float] | None,
    "tenant": dict[str, Any] | None,
}
"""What may accompany a question, beside filters: the inputs of components that ask for it, and their types."""


def to_query(
    text: str,
    *,
    filters: dict[str, Any] | None = None,
    tenant: dict[str, Any] | None = None,
    intent: dict[str, Any] | None = None,
    now: datetime | str | None = None,
    query_embedding: list[float] | None = None,
) -> Query:
    """
    A question with what is known of it.

    :param text: The question.
    :param filters: Haystack metadata filters; they decide what may be returned.
    :param tenant: Metadata values a document must have to be seen at all.
    :param intent: What `from_intent` wrote.
    :param now: The time at which the question is asked, the current one when not given.
    :param query_embedding: The vector of the question, if there is one already.
    :returns: The query.
    :raises ValueError: If `now` is not a time.
    """
    asked_at = utc_now() if now is None else read_timestamp(now)
    if asked_at is None:
        raise ValueError(f"now: {now!r} is not allowed: it must be a datetime or an ISO string")
    return Query(
        text,
        vector=None if query_embedding is None else np.asarray(query_embedding, np.float32),
        asked_at=asked_at,
        filters=admits(filters) if filters else None,
        tenant=tenant,
        intent=to_intent(intent) if intent else None,
    )


def admits(filters: dict[str, Any]) -> Callable[[Hit], bool]:
    """
    A function that says whether a hit passes Haystack filters.

    :param filters: Filters with `field`, `operator` and `value`, or `operator` and `conditions`.
    :returns: The function.
    """
    return lambda hit: document_matches_filter(filters, to_document(hit))


def from_intent(intent: Intent) -> dict[str, Any]:
    """
    An intent as plain data, to travel between components.

    :param intent: What the core made of a question.
    :returns: Its fields as JSON types.
    """
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(intent).items()}


def to_intent(data: dict[str, Any]) -> Intent:
    """
    Read back what `from_intent` wrote.

    :param data: The fields of an intent.
    :returns: The intent.
    """
    return Intent(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})
