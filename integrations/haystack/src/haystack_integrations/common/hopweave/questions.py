"""What Haystack knows of a question, as a query."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal

import numpy as np
from haystack import Document
from haystack.document_stores.types import FilterPolicy
from haystack.document_stores.types.filter_policy import apply_filter_policy
from haystack.errors import FilterError
from haystack.utils.filters import document_matches_filter

from haystack_integrations.common.hopweave.documents import to_document
from hopweave.hit import Hit
from hopweave.metadata.tenants import in_context, narrow_tenant
from hopweave.metadata.timestamps import read_timestamp
from hopweave.query import Intent, Plan, Query, utc_now
from hopweave.recipe import check_skip

Tenant = dict[str, Any] | Callable[[], dict[str, Any]] | None
"""
Metadata values a document must have to be seen at all, or a function that returns them.

Haystack's `ComponentTool` leaves inputs that may be functions out of a tool's parameters. So a model that calls a
component of ours as a tool never sees the tenant.
"""

Skip = list[str] | Callable[[], list[str]] | None
"""
What to leave out for a run: `rerank`, `graph`, `freshness`, or the kind of a source or stage; or a function that
returns it. Like the tenant, it is the caller's to say and no parameter of a tool.
"""


def to_query(
    text: str,
    *,
    filters: dict[str, Any] | None = None,
    tenant: Mapping[str, Any] | None = None,
    intent: dict[str, Any] | None = None,
    now: datetime | str | None = None,
    query_embedding: list[float] | None = None,
    skip: Skip = None,
) -> Query:
    """
    A question with what is known of it.

    :param text: The question.
    :param filters: Haystack metadata filters; they decide what may be returned.
    :param tenant: Metadata values a document must have to be seen at all.
    :param intent: What `from_intent` wrote.
    :param now: The time at which the question is asked, the current one when not given.
    :param query_embedding: The vector of the question, if there is one already.
    :param skip: What to leave out: rerank, graph, freshness, or the kind of a source or stage.
    :returns: The query.
    :raises ValueError: If `now` is not a time, or there is nothing of a name to skip.
    """
    moment = utc_now() if now is None else read_timestamp(now)
    if moment is None:
        raise ValueError(f"now: {now!r} is not allowed: it must be a datetime or an ISO string")
    skipped = (skip() if callable(skip) else skip) or ()
    check_skip(skipped)
    return Query(
        text,
        vector=None if query_embedding is None else np.asarray(query_embedding, np.float32),
        now=moment,
        filters=admits(filters) if filters else None,
        tenant=tenant,
        intent=None if intent is None or intent == {} else to_intent(intent),
        skip=skipped,
    )


def narrowed(own: Mapping[str, Any] | None, given: Tenant) -> Mapping[str, Any] | None:
    """
    The tenant of a run: that of the component, narrowed by what was given to the run and by `hopweave.tenant(...)`.

    :param own: The tenant given at construction.
    :param given: The tenant given to `run`; None leaves it at that of the construction.
    :returns: What both may see.
    :raises ValueError: If the run asks for something outside the component's own tenant.
    """
    return in_context(narrow_tenant(own, given() if callable(given) else given))


DEFER: Literal["defer"] = "defer"
"""
A filter policy beside Haystack's own: a later component filters.

The retriever fetches until `top_k` documents pass and also hands out what it would without filters: documents that may
not be returned can lead a walk over the graph to others.
"""

RetrieverFilterPolicy = FilterPolicy | Literal["defer"]


def as_filter_policy(policy: str | FilterPolicy) -> FilterPolicy:
    """
    A filter policy by name, or as it is.

    :param policy: `replace` or `merge`.
    :returns: The policy.
    :raises ValueError: If there is none of that name.
    """
    try:
        return FilterPolicy(policy)
    except ValueError:
        raise ValueError(_not_allowed(policy)) from None


def as_retriever_filter_policy(policy: str | FilterPolicy) -> RetrieverFilterPolicy:
    """
    A filter policy by name, or as it is.

    :param policy: `replace`, `merge` or `defer`.
    :returns: The policy.
    :raises ValueError: If there is none of that name.
    """
    if policy == DEFER:
        return DEFER
    try:
        return FilterPolicy(policy)
    except ValueError:
        raise ValueError(_not_allowed(policy, DEFER)) from None


def _not_allowed(policy: Any, *more: str) -> str:
    known = ", ".join([*(one.value for one in FilterPolicy), *more])
    return f"filter_policy: {policy!r} is not allowed; allowed are {known}"


def chosen_filters(
    policy: RetrieverFilterPolicy, own: dict[str, Any] | None, given: dict[str, Any] | None
) -> dict[str, Any] | None:
    """
    The filters of a run.

    :param policy: What to do with those given to the run.
    :param own: The filters given at construction.
    :param given: The filters given to the run.
    :returns: What holds.
    """
    return apply_filter_policy(FilterPolicy.REPLACE if policy == DEFER else FilterPolicy(policy), own, given)


def admits(filters: dict[str, Any]) -> Callable[[Hit], bool]:
    """
    A function that says whether a hit passes Haystack filters.

    :param filters: Filters with `field`, `operator` and `value`, or `operator` and `conditions`.
    :returns: The function.
    :raises ValueError: If they are not such filters.
    """
    try:
        document_matches_filter(filters, _BLANK)
    except (FilterError, AttributeError, TypeError) as error:
        raise ValueError(f"filters: {filters!r} are not Haystack filters: {error}") from error
    return _Passes(filters)


class _Passes:
    """
    Whether a hit passes Haystack filters.

    :param filters: Filters that a document store takes as well.
    """

    def __init__(self, filters: dict[str, Any]) -> None:
        self.filters = filters

    def __call__(self, hit: Hit) -> bool:
        return document_matches_filter(self.filters, to_document(hit))


_BLANK = Document(id="blank", content="")


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
    :raises ValueError: If they are not the fields of an intent.
    """
    return Intent.of(data)


def asks_for_paths(plan: dict[str, Any] | None) -> bool:
    """
    Whether a question is to have paths, by the output `plan` of a `PlanRouter`.

    :param plan: The fields of a plan; without one, it is.
    :returns: Whether the plan asks for them.
    :raises ValueError: If they are not the fields of a plan.
    """
    return plan is None or Plan.of(plan).prune_paths
