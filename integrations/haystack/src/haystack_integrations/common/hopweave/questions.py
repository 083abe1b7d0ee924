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
    A question with what is known of it; `now` is the current time unless given.

    Raises `ValueError` if `now` is not a time, or there is nothing of a name to skip.
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
        intent=None if intent is None or intent == {} else Intent.of(intent),
        skip=skipped,
    )


def narrowed(own: Mapping[str, Any] | None, given: Tenant) -> Mapping[str, Any] | None:
    """
    The tenant of a run: that of the component, narrowed by what was given to the run and by `hopweave.tenant(...)`.

    Raises `ValueError` if the run asks for something outside the component's own tenant.
    """
    return in_context(narrow_tenant(own, given() if callable(given) else given))


DEFER: Literal["defer"] = "defer"
"""
A filter policy beside Haystack's own: a later component filters.

The retriever fetches until `top_k` documents pass and also hands out what it would without filters: documents that may
not be returned can lead a walk over the graph to others.
"""

RetrieverFilterPolicy = FilterPolicy | Literal["defer"]


def as_filter_policy(policy: str | FilterPolicy, *, defer: bool = False) -> RetrieverFilterPolicy:
    """A filter policy by name, or as it is; `defer` says whether that policy is allowed."""
    if defer and policy == DEFER:
        return DEFER
    try:
        return FilterPolicy(policy)
    except ValueError:
        known = ", ".join([*(one.value for one in FilterPolicy), *([DEFER] if defer else [])])
        raise ValueError(f"filter_policy: {policy!r} is not allowed; allowed are {known}") from None


def chosen_filters(
    policy: RetrieverFilterPolicy, own: dict[str, Any] | None, given: dict[str, Any] | None
) -> dict[str, Any] | None:
    """The filters of a run: its own, those of the component, or both, as the policy says."""
    return apply_filter_policy(FilterPolicy.REPLACE if policy == DEFER else FilterPolicy(policy), own, given)


def admits(filters: dict[str, Any]) -> Callable[[Hit], bool]:
    """A function that says whether a hit passes Haystack filters. Raises `ValueError` if they are no such filters."""
    try:
        document_matches_filter(filters, _BLANK)
    except (FilterError, AttributeError, TypeError) as error:
        raise ValueError(f"filters: {filters!r} are not Haystack filters: {error}") from error
    return _Passes(filters)


class _Passes:
    """Whether a hit passes Haystack filters, which a document store takes as well."""

    def __init__(self, filters: dict[str, Any]) -> None:
        self.filters = filters

    def __call__(self, hit: Hit) -> bool:
        return document_matches_filter(self.filters, to_document(hit))


_BLANK = Document(id="blank", content="")


def from_intent(intent: Intent) -> dict[str, Any]:
    """An intent as plain data, to travel between components."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(intent).items()}


def asks_for_paths(plan: dict[str, Any] | None) -> bool:
    """Whether a question is to have paths, by the output `plan` of a `PlanRouter`; without a plan, it is."""
    return plan is None or Plan.of(plan).prune_paths
