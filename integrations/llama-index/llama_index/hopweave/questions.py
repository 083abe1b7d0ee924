"""Query bundles to questions and back."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from llama_index.core.schema import QueryBundle, QueryType

from hopweave.metadata.tenants import in_context, narrow_tenant
from hopweave.query import Query, utc_now
from hopweave.recipe import check_skip


@dataclass
class TenantBundle(QueryBundle):
    """
    A query bundle with a tenant. Every component of hopweave that is given it sees only documents of that tenant.

    It can only narrow the tenant that a component was made with.

    Args:
        query_str: The question.
        tenant: Metadata values a document must have to be seen at all.

    Examples:
        ```python
        from llama_index.hopweave import TenantBundle
        from llama_index.retrievers.hopweave import BM25Retriever

        BM25Retriever("hopweave.db").retrieve(TenantBundle("When does the gate open?", tenant={"customer": "acme"}))
        ```

    """

    tenant: Mapping[str, Any] | None = None


@dataclass
class RequestBundle(TenantBundle):
    """
    A query bundle that leaves parts of a recipe out for this question, with a tenant if you like.

    Args:
        query_str: The question.
        tenant: Metadata values a document must have to be seen at all.
        skip: What to leave out: `rerank`, `graph`, `freshness`, or the kind of a source or stage.

    Examples:
        ```python
        from llama_index.hopweave import RequestBundle
        from llama_index.retrievers.hopweave import RecipeRetriever

        retriever = RecipeRetriever("hopweave.db", recipe="multihop")
        retriever.retrieve(RequestBundle("When does the gate open?", skip=["graph"]))
        ```

    """

    skip: Collection[str] = ()


@dataclass(frozen=True, slots=True, eq=False)
class BundledQuery(Query):
    """A question with the bundle it came in, for retrievers that a recipe asks."""

    bundle: QueryBundle | None = None


def to_query(
    bundle: QueryBundle | None,
    *,
    filters: Any = None,
    tenant: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    with_embedding: bool = False,
) -> Query:
    """
    The bundle as a question. What a query transformation such as HyDE wants embedded instead is kept.

    Args:
        bundle: What LlamaIndex hands to retrievers and postprocessors; None is a question without words.
        filters: What may be returned, as a function or mapping.
        tenant: Metadata values a document must have to be seen at all; that of a `TenantBundle` narrows it.
        now: The time to go by; the current time when not given.
        with_embedding: Whether the bundle's embedding is of the model whose vectors it will meet. LlamaIndex
            retrievers leave theirs in the bundle, so it is not taken unasked.

    Returns:
        A question that also carries the bundle.

    """
    bundle = QueryBundle("") if bundle is None else bundle
    skip = skip_of(bundle)
    check_skip(skip)
    vector = np.asarray(bundle.embedding, np.float32) if with_embedding and bundle.embedding is not None else None
    return BundledQuery(
        bundle.query_str,
        vector=vector,
        now=utc_now() if now is None else now,
        filters=filters,
        tenant=tenant_of(bundle, tenant),
        vector_texts=tuple(bundle.custom_embedding_strs or ()),
        skip=skip,
        bundle=bundle,
    )


def skip_of(bundle: QueryType | None) -> Collection[str]:
    """
    What a bundle leaves out.

    Args:
        bundle: What was asked.

    Returns:
        Names of groups or kinds; none unless it is a `RequestBundle`.

    """
    return bundle.skip if isinstance(bundle, RequestBundle) else ()


def tenant_of(bundle: QueryType | None, tenant: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
    """
    The tenant of a component, narrowed by those of the bundle and of `hopweave.tenant(...)`.

    Args:
        bundle: What was asked.
        tenant: The tenant that the component was made with.

    Returns:
        The tenant; None sees everything.

    """
    return in_context(narrow_tenant(tenant, bundle.tenant if isinstance(bundle, TenantBundle) else None))


def to_bundle(query: Query) -> QueryBundle:
    """
    The question as a bundle: the one it came in, with the words and the tenant it has now.

    Args:
        query: The question.

    Returns:
        A new bundle, as retrievers write into theirs.

    """
    bundle = query.bundle if isinstance(query, BundledQuery) and query.bundle else QueryBundle(query.text)
    if query.tenant is None and not query.skip:
        return replace(bundle, query_str=query.text)
    return RequestBundle(
        query.text,
        image_path=bundle.image_path,
        custom_embedding_strs=bundle.custom_embedding_strs,
        embedding=bundle.embedding,
        tenant=query.tenant,
        skip=query.skip,
    )
