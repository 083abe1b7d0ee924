"""A knowledge base as a vector store."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from llama_index.core.bridge.pydantic import Field
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
    VectorStoreQueryResult,
)
from llama_index.hopweave.embedder import to_embedder
from llama_index.hopweave.filters import to_predicate
from llama_index.hopweave.nodes import plain_node, to_document

from hopweave.fusion.as_found import AsFound
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.weighted import Weighted
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.text.bm25 import Bm25
from hopweave.vector.index import NearestVectors

_TEXT_MODES = (VectorStoreQueryMode.TEXT_SEARCH, VectorStoreQueryMode.SPARSE)


class HopweaveVectorStore(BasePydanticVectorStore):
    """
    Keeps nodes in a knowledge base: one file with text, vectors, full-text index and graph.

    What an index writes here, every recipe finds. Query modes: default (vectors), text_search and sparse (BM25) and
    hybrid (both, fused by rank, or weighted if `alpha` is given: 1 is vectors alone).

    Args:
        knowledge_base: An open knowledge base. Its embedder must be the index's embedding model; `open` sees to that.

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

    @classmethod
    def open(
        cls, path: str | Path | None = None, *, embed_model: BaseEmbedding | None = None, **options: Any
    ) -> "HopweaveVectorStore":
        """
        Open a file, or create it.

        Args:
            path: The file; without one, the store is gone when the program ends.
            embed_model: The model that makes the vectors of nodes and questions.
            options: What `KnowledgeBase.open` takes: `graph`, `analyzers`, `read_only` ...

        Returns:
            A vector store.

        """
        embedder = {} if embed_model is None else {"embedder": to_embedder(embed_model)}
        return cls(knowledge_base=KnowledgeBase.open(path, **embedder, **options))

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
        self.knowledge_base.add(to_document(node) for node in nodes)
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:  # noqa: ARG002
        """Remove all nodes of a document."""
        self.knowledge_base.delete(self.knowledge_base.ids(tenant={"ref_doc_id": ref_doc_id}))

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
        self.knowledge_base.delete(self.knowledge_base.ids())

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """The nodes with these ids, or of this metadata, with their vectors."""
        hits = self._matching(node_ids, filters)
        vectors = self.knowledge_base.vectors(hit.id for hit in hits)
        return [
            plain_node(hit).model_copy(update={"embedding": vectors[hit.id].tolist() if hit.id in vectors else None})
            for hit in hits
        ]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:  # noqa: ARG002
        """The nodes that fit a query best."""
        pipeline = Pipeline(_recipe(query), self.knowledge_base)
        return _result(pipeline.run(_question(query), top_k=query.similarity_top_k).hits)

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:  # noqa: ARG002
        """The same without blocking the event loop."""
        pipeline = Pipeline(_recipe(query), self.knowledge_base)
        return _result((await pipeline.run_async(_question(query), top_k=query.similarity_top_k)).hits)

    async def async_add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Add nodes without blocking the event loop."""
        return await asyncio.to_thread(self.add, nodes, **kwargs)

    async def adelete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Remove a document's nodes without blocking the event loop."""
        await asyncio.to_thread(self.delete, ref_doc_id, **delete_kwargs)

    def _matching(self, node_ids: list[str] | None, filters: MetadataFilters | None) -> list[Hit]:
        admits = to_predicate(filters) or (lambda _: True)
        ids = self.knowledge_base.ids() if node_ids is None else node_ids
        return [hit for hit in self.knowledge_base.get(ids).values() if admits(hit)]


def _recipe(query: VectorStoreQuery) -> Recipe:
    sources = {"vector": NearestVectors(), "text": Bm25()}
    if query.mode == VectorStoreQueryMode.HYBRID:
        shares = None if query.alpha is None else {"vector": query.alpha, "text": 1 - query.alpha}
        fuser = ReciprocalRank() if shares is None else Weighted(weights=shares)
        return Recipe(name="hybrid", sources=sources, fuse=fuser)
    name = "text" if query.mode in _TEXT_MODES else "vector"
    return Recipe(name=name, sources={name: sources[name]}, fuse=AsFound(source=name))


def _question(query: VectorStoreQuery) -> Query:
    conditions: list[Callable[[Hit], bool]] = []
    if query.filters is not None:
        conditions.append(to_predicate(query.filters))
    if query.node_ids:  # LlamaIndex passes an empty list when it means any
        allowed = set(query.node_ids)
        conditions.append(lambda hit: hit.id in allowed)
    if query.doc_ids:
        parents = set(query.doc_ids)
        conditions.append(lambda hit: hit.metadata.get("ref_doc_id") in parents)
    vector = None if query.query_embedding is None else np.asarray(query.query_embedding, np.float32)
    admits = (lambda hit: all(admitted(hit) for admitted in conditions)) if conditions else None
    return Query(query.query_str or "", vector=vector, filters=admits)


def _result(hits: Sequence[Hit]) -> VectorStoreQueryResult:
    return VectorStoreQueryResult(
        nodes=[plain_node(hit) for hit in hits],
        similarities=[hit.score for hit in hits],
        ids=[hit.id for hit in hits],
    )
