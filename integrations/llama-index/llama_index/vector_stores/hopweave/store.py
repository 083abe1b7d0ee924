"""A knowledge base as a vector store."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, cast

import numpy as np
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.hopweave.embedder import chosen_model, to_embedder
from llama_index.hopweave.filters import to_predicate
from llama_index.hopweave.knowledge import check_written
from llama_index.hopweave.nodes import plain_node, to_document

from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.weighted import Weighted
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.metadata.tenants import CheckedTenant, in_context
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch
from hopweave.stages.diversify.mmr import MMR

_TEXT_MODES = (VectorStoreQueryMode.TEXT_SEARCH, VectorStoreQueryMode.SPARSE)
_HYBRID_MODES = (VectorStoreQueryMode.HYBRID, VectorStoreQueryMode.SEMANTIC_HYBRID)
_MODES = (VectorStoreQueryMode.DEFAULT, VectorStoreQueryMode.MMR, *_TEXT_MODES, *_HYBRID_MODES)


class HopweaveVectorStore(BasePydanticVectorStore):
    """
    Keeps nodes in a knowledge base: one file with text, vectors, full-text index and graph.

    What an index writes here, every recipe finds. Query modes: default (vectors), mmr (vectors, diversified, with
    `mmr_threshold` as the weight of relevance), text_search and sparse (BM25), hybrid and semantic_hybrid (both, fused
    by rank, or weighted if `alpha` is given: 1 is vectors alone). Other modes are refused.

    Args:
        knowledge_base: An open knowledge base. Its embedder must be the index's embedding model; `open` sees to that.
        tenant: Metadata values a node must have to be seen, written or deleted here.

    Examples:
        ```python
        from llama_index.core import StorageContext, VectorStoreIndex
        from llama_index.core.schema import TextNode
        from llama_index.embeddings.hopweave import StaticEmbedding
        from llama_index.vector_stores.hopweave import HopweaveVectorStore

        model = StaticEmbedding()
        store = HopweaveVectorStore.open(embed_model=model)
        index = VectorStoreIndex(
            [TextNode(text="The tide gate opens at six.")],
            storage_context=StorageContext.from_defaults(vector_store=store),
            embed_model=model,
        )
        ```

    """

    stores_text: Literal[True] = True
    is_embedding_query: Literal[True] = True
    flat_metadata: Literal[False] = False
    knowledge_base: KnowledgeBase = Field(exclude=True, repr=False, description="Where the nodes are kept.")

    tenant: CheckedTenant = Field(
        default=None, description="Metadata values a node must have to be seen, written or deleted."
    )

    _path: str | None = PrivateAttr(default=None)

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        embed_model: BaseEmbedding | None = None,
        tenant: dict[str, Any] | None = None,
        **options: Any,
    ) -> "HopweaveVectorStore":
        """
        Open a file, or create it.

        Args:
            path: The file; without one, the store is gone when the program ends.
            embed_model: The model that makes the vectors of nodes and questions; that of LlamaIndex's `Settings` when
                not given, if one was set there, else hopweave's own.
            tenant: Metadata values a node must have to be seen, written or deleted here.
            options: What `KnowledgeBase.open` takes: `graph`, `analyzers`, `read_only` ...

        Returns:
            A vector store.

        """
        if (model := chosen_model(embed_model)) is not None:
            options["embedder"] = to_embedder(model)
        made = cls(knowledge_base=KnowledgeBase.open(path, **options), tenant=tenant)
        made._path = None if path is None else str(path)
        return made

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """As data; the path of a store that `open` has opened is in it, an open knowledge base is not."""
        path = {} if self._path is None else {"knowledge_base": self._path}
        return {**super().to_dict(**kwargs), **path}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Made of what `to_dict` wrote; a path is opened as `open` does, with `embed_model` if it is given."""
        given = {**data, **kwargs}
        check_written(given)
        if not isinstance(given["knowledge_base"], str | Path):
            return super().from_dict(data, **kwargs)
        model, tenant = given.get("embed_model"), given.get("tenant")
        return cast("Self", cls.open(given["knowledge_base"], embed_model=model, tenant=tenant))

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "HopweaveVectorStore"

    @property
    def client(self) -> KnowledgeBase:
        """The knowledge base."""
        return self.knowledge_base

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:  # noqa: ARG002
        """Add nodes, or replace those whose id is known."""
        self.knowledge_base.add(map(to_document, nodes), tenant=self.tenant)
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:  # noqa: ARG002
        """Remove all nodes of a document."""
        self.knowledge_base.delete(self.knowledge_base.ids(tenant={**(self.tenant or {}), "ref_doc_id": ref_doc_id}))

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **delete_kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Remove nodes by id, by metadata, or by both."""
        self.knowledge_base.delete([hit.id for hit in self._matching(node_ids, filters)])

    def clear(self) -> None:
        """Remove all nodes."""
        self.knowledge_base.delete(self.knowledge_base.ids(tenant=self.tenant))

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes with these ids, or of this metadata, with their vectors; if they are tenants', of one tenant."""
        self.knowledge_base.check_tenant(in_context(self.tenant))
        return self.kept_nodes(node_ids, filters)

    def kept_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The same without asking whose are meant, for a caller that keeps to a tenant by itself."""
        hits = self._matching(node_ids, filters)
        vectors = self.knowledge_base.vectors(hit.id for hit in hits)
        return [
            plain_node(hit).model_copy(update={"embedding": vectors[hit.id].tolist() if hit.id in vectors else None})
            for hit in hits
        ]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The nodes that fit a query best. `mmr_threshold` may be given here too, as `vector_store_kwargs`."""
        query = _with_options(query, kwargs)
        pipeline = Pipeline(_recipe(query), self.knowledge_base)
        return _result(pipeline.run(_question(query, self.tenant), top_k=_top_k(query)).hits)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """The same without blocking the event loop."""
        query = _with_options(query, kwargs)
        pipeline = Pipeline(_recipe(query), self.knowledge_base)
        return _result((await pipeline.run_async(_question(query, self.tenant), top_k=_top_k(query))).hits)

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Add nodes without blocking the event loop."""
        return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Remove a document's nodes without blocking the event loop."""
        await asyncio.to_thread(self.delete, ref_doc_id, **delete_kwargs)

    def _matching(self, node_ids: list[str] | None, filters: MetadataFilters | None) -> list[Hit]:
        admits = to_predicate(filters) or (lambda _: True)
        tenant = in_context(self.tenant)
        ids = self.knowledge_base.ids(tenant=tenant) if node_ids is None else node_ids
        return [hit for hit in self.knowledge_base.get(ids, tenant=tenant).values() if admits(hit)]


def _with_options(query: VectorStoreQuery, options: dict[str, Any]) -> VectorStoreQuery:
    """The query with what came beside it; stock stores take `mmr_threshold` there."""
    if unknown := [name for name in options if name != "mmr_threshold"]:
        raise ValueError(f"{unknown[0]}: is not allowed; the store takes mmr_threshold beside the query")
    return replace(query, **options)


def _top_k(query: VectorStoreQuery) -> int:
    """How many nodes to return: LlamaIndex has a number of its own for texts and for both together."""
    own = query.hybrid_top_k if query.mode in _HYBRID_MODES else None
    own = query.sparse_top_k if query.mode in _TEXT_MODES else own
    return query.similarity_top_k if own is None else own


def _recipe(query: VectorStoreQuery) -> Recipe:
    if query.mode not in _MODES:
        raise ValueError(
            f"mode: {query.mode!s} is not allowed; it must be one of {', '.join(mode.value for mode in _MODES)}"
        )
    fetched = {} if query.sparse_top_k is None else {"top_k": query.sparse_top_k}
    sources = {"vector": VectorSearch(), "text": BM25(**fetched)}
    if query.mode in _HYBRID_MODES:
        shares = None if query.alpha is None else {"vector": query.alpha, "text": 1 - query.alpha}
        fuser = ReciprocalRank() if shares is None else Weighted(weights=shares)
        return Recipe(name="hybrid", sources=sources, fuse=fuser)
    name = "text" if query.mode in _TEXT_MODES else "vector"
    recipe = Recipe.of_source(sources[name], name=name)
    if query.mode != VectorStoreQueryMode.MMR:
        return recipe
    weight = {} if query.mmr_threshold is None else {"relevance_weight": query.mmr_threshold}
    return recipe.model_copy(update={"stages": (MMR(**weight),)})


def _question(query: VectorStoreQuery, tenant: dict[str, Any] | None) -> Query:
    conditions: list[Callable[[Hit], bool]] = []
    if (wanted := to_predicate(query.filters)) is not None:
        conditions.append(wanted)
    if query.node_ids:  # LlamaIndex passes an empty list when it means any
        allowed = set(query.node_ids)
        conditions.append(lambda hit: hit.id in allowed)
    if query.doc_ids:
        parents = set(query.doc_ids)
        conditions.append(lambda hit: hit.metadata.get("ref_doc_id") in parents)
    vector = None if query.query_embedding is None else np.asarray(query.query_embedding, np.float32)
    admits = (lambda hit: all(admitted(hit) for admitted in conditions)) if conditions else None
    return Query(query.query_str or "", vector=vector, filters=admits, tenant=tenant)


def _result(hits: Sequence[Hit]) -> VectorStoreQueryResult:
    return VectorStoreQueryResult(
        nodes=[plain_node(hit) for hit in hits],
        similarities=[0.0 if hit.score is None else hit.score for hit in hits],
        ids=[hit.id for hit in hits],
    )
