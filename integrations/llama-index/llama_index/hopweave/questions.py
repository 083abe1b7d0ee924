"""Query bundles to questions and back."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from llama_index.core.schema import QueryBundle

from hopweave.query import Query, utc_now


@dataclass(frozen=True, slots=True, eq=False)
class BundledQuery(Query):
    """A question that remembers the bundle it came in, for retrievers further down."""

    bundle: QueryBundle | None = None


def to_query(
    bundle: QueryBundle | None,
    *,
    filters: Any = None,
    tenant: Mapping[str, Any] | None = None,
    asked_at: datetime | None = None,
    with_embedding: bool = False,
) -> Query:
    """
    The bundle as a question.

    Args:
        bundle: What LlamaIndex hands to retrievers and postprocessors; None is a question without words.
        filters: What may be returned, as a function or mapping.
        tenant: Metadata values a document must have to be seen at all.
        asked_at: The time to go by; the current time when not given.
        with_embedding: Whether the bundle's embedding is of the model whose vectors it will meet. LlamaIndex
            retrievers leave theirs in the bundle, so it is not taken unasked.

    Returns:
        A question that also carries the bundle.

    """
    bundle = QueryBundle("") if bundle is None else bundle
    vector = np.asarray(bundle.embedding, np.float32) if with_embedding and bundle.embedding is not None else None
    return BundledQuery(
        bundle.query_str,
        vector=vector,
        asked_at=utc_now() if asked_at is None else asked_at,
        filters=filters,
        tenant=tenant,
        bundle=bundle,
    )


def to_bundle(query: Query) -> QueryBundle:
    """
    The question as a bundle: the one it came in, with the words it has now.

    Args:
        query: The question.

    Returns:
        A new bundle, as retrievers write into theirs.

    """
    bundle = query.bundle if isinstance(query, BundledQuery) and query.bundle else QueryBundle(query.text)
    return replace(bundle, query_str=query.text)
