"""Personalised PageRank over a property graph index."""

import asyncio
from collections.abc import Callable
from typing import Any

from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.property_graph.sub_retrievers.base import BasePGRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.graph_stores.hopweave.property_graph import Load, contributions_of
from llama_index.hopweave.knowledge import documents_in
from llama_index.retrievers.hopweave.pagerank import PageRankRetriever
from llama_index_instrumentation import get_dispatcher

from hopweave.graph.build.resolve import resolve

dispatcher = get_dispatcher(__name__)


class PageRankPGRetriever(BasePGRetriever):
    """
    A sub-retriever for `PropertyGraphIndex` that finds chunks several relations away from what the question names.

    Takes the parameters of `hopweave.graph.pagerank.PageRank` beside these. The graph is read when first asked;
    `refresh` reads it again.

    Args:
        graph_store: The property graph store.
        similarity_top_k: How many nodes to return.
        load: Reads the relations instead, for a store that limits what it gives.
        callback_manager: LlamaIndex's callback manager.
        parameters: What `PageRankRetriever` takes: `upstream`, `restart`, `filters` ...

    Examples:
        ```python
        from llama_index.core.graph_stores import SimplePropertyGraphStore
        from llama_index.retrievers.hopweave import PageRankPGRetriever

        retriever = PageRankPGRetriever(SimplePropertyGraphStore(), similarity_top_k=5)
        nodes = retriever.retrieve("Where was the designer of MV Skua born?")
        ```

    """

    def __init__(
        self,
        graph_store: PropertyGraphStore,
        *,
        similarity_top_k: int | None = None,
        load: Load | None = None,
        callback_manager: Any = None,
        **parameters: Any,
    ) -> None:
        """Keep the store and the parameters, which are checked here."""
        super().__init__(graph_store, include_text=False, callback_manager=callback_manager)
        self._load = load
        self._make: Callable[[Any], PageRankRetriever] = lambda knowledge: PageRankRetriever(
            knowledge, similarity_top_k=similarity_top_k, **{"upstream": {}, **parameters}
        )
        self._make(None)
        self._retriever: PageRankRetriever | None = None

    def refresh(self) -> "PageRankPGRetriever":
        """Read the graph again, after the store has changed."""
        self._retriever = self._read()
        return self

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The chunks that the walk meets most often."""
        return self._ready().retrieve(query_bundle)

    @dispatcher.span
    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        retriever = await asyncio.to_thread(self._ready)
        return await retriever.aretrieve(query_bundle)

    def _read(self) -> PageRankRetriever:
        graph = resolve(contributions_of(self._graph_store, self._load)).graph()
        return self._make(documents_in(self._graph_store, graph))

    def _ready(self) -> PageRankRetriever:
        if self._retriever is None:
            self._retriever = self._read()
        return self._retriever
