"""Personalised PageRank over a property graph index."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import TRIPLET_SOURCE_KEY, ChunkNode, PropertyGraphStore
from llama_index.core.indices.property_graph.sub_retrievers.base import DEFAULT_PREAMBLE, BasePGRetriever
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.graph_stores.hopweave.property_graph import Load, by_chunk, contribution
from llama_index.hopweave.knowledge import NoDocuments, documents_in
from llama_index.hopweave.nodes import to_hit
from llama_index.retrievers.hopweave.pagerank import PageRankRetriever
from llama_index_instrumentation import get_dispatcher

from hopweave.graph.build.resolve import resolve

dispatcher = get_dispatcher(__name__)


class PageRankPGRetriever(BasePGRetriever):
    """
    A sub-retriever for `PropertyGraphIndex` that finds chunks several relations away from what the question names.

    Takes the parameters of `hopweave.sources.pagerank.PageRank` beside these. The graph is read when first asked, and
    again when it has changed: a `SimplePropertyGraphStore` is looked at for every question, other stores are read again
    after `refresh_seconds`, and any store when `refresh` is called.

    Args:
        graph_store: The property graph store.
        similarity_top_k: How many nodes to return.
        include_text: Whether nodes are the chunks, their text preceded by the path that led to them and the facts that
            were extracted from them, as LlamaIndex's own sub-retrievers do it; else path and facts alone.
        include_text_preamble: What is written before path and facts.
        include_properties: Whether facts have the properties of entities and relations.
        include_facts: Whether there are path and facts; if not, nodes are the chunks as they are.
        load: Reads the relations instead, for a store that limits what it gives.
        refresh_seconds: How old what was read of a store may be; None for any age.
        clock: The time in seconds.
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
        include_text: bool = True,
        include_text_preamble: str | None = DEFAULT_PREAMBLE,
        include_properties: bool = False,
        include_facts: bool = True,
        load: Load | None = None,
        refresh_seconds: float | None = 60.0,
        clock: Callable[[], float] = monotonic,
        callback_manager: Any = None,
        **parameters: Any,
    ) -> None:
        """Keep the store and the parameters, which are checked here."""
        super().__init__(
            graph_store,
            include_text=include_text,
            include_text_preamble=include_text_preamble,
            include_properties=include_properties,
            callback_manager=callback_manager,
        )
        if not include_text and not include_facts:
            raise ValueError("include_facts: False is not allowed with include_text=False, as nothing would be left")
        if refresh_seconds is not None and refresh_seconds < 0:
            raise ValueError(f"refresh_seconds: {refresh_seconds} is not allowed; it must be at least 0, or None")
        self.include_facts = include_facts
        self._load = load
        self._refresh_seconds = refresh_seconds
        self._clock = clock
        self._parameters = {"similarity_top_k": similarity_top_k, "upstream": {}, **parameters}
        PageRankRetriever(NoDocuments(), **self._parameters)  # which checks them
        self._graph: _GraphRead | None = None

    def refresh(self) -> "PageRankPGRetriever":
        """Read the graph again."""
        self._graph = self._read()
        return self

    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The chunks that the walk meets most often."""
        graph = self._ready()
        return self._described(graph, graph.retriever.retrieve(query_bundle))

    @dispatcher.span
    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        graph = await asyncio.to_thread(self._ready)
        return self._described(graph, await graph.retriever.aretrieve(query_bundle))

    def add_source_text(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """The nodes as they are: they have their text."""
        return nodes

    async def async_add_source_text(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        """The nodes as they are: they have their text."""
        return nodes

    def _described(self, graph: "_GraphRead", nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return (
            [self._with_facts(node, graph.facts.get(node.node_id, ())) for node in nodes]
            if self.include_facts
            else nodes
        )

    def _with_facts(self, node: NodeWithScore, facts: Iterable[str]) -> NodeWithScore:
        path = _without_end(to_hit(node).path or "", node.node_id)
        lines = "\n".join([*([path] if path else []), *facts])
        if not self.include_text:
            source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=node.node_id)}
            return NodeWithScore(node=TextNode(text=lines or node.text, relationships=source), score=node.score)
        if lines:
            text = f"{self._include_text_preamble or ''}{lines}\n\n{node.text}"
            node.node.set_content(text)  # of the copy that the retriever made
        return node

    def _read(self) -> "_GraphRead":
        read_at, version = self._clock(), _version_of(self._graph_store)
        chunks = by_chunk(self._graph_store, self._load)
        graph = resolve([contribution(chunk, triplets) for chunk, triplets in chunks.items()]).graph()
        facts = {
            chunk: [
                one.text
                for one in self._get_nodes_with_score(
                    [each for each in triplets if not any(isinstance(end, ChunkNode) for end in (each[0], each[2]))]
                )
            ]
            for chunk, triplets in chunks.items()
        }
        retriever = PageRankRetriever(documents_in(self._graph_store, graph), **self._parameters)
        return _GraphRead(retriever, facts, version, read_at)

    def _ready(self) -> "_GraphRead":
        if self._graph is None or self._is_stale(self._graph):
            self._graph = self._read()
        return self._graph

    def _is_stale(self, graph: "_GraphRead") -> bool:
        if graph.version is not None:
            return graph.version != _version_of(self._graph_store)
        return self._refresh_seconds is not None and self._clock() - graph.read_at >= self._refresh_seconds


@dataclass(frozen=True)
class _GraphRead:
    """What was read of a store: its graph under a retriever, facts by chunk, its version then if known, and when."""

    retriever: PageRankRetriever
    facts: dict[str, list[str]]
    version: int | None
    read_at: float


def _version_of(store: PropertyGraphStore) -> int | None:
    """A number that changes with the relations of a store in memory; None for a store that would have to be read."""
    if not isinstance(store, SimplePropertyGraphStore):
        return None
    relations = store.graph.relations.items()
    read = frozenset((key, one.properties.get(TRIPLET_SOURCE_KEY)) for key, one in relations)
    return hash((read, frozenset(store.graph.nodes)))


def _without_end(path: str, node_id: str) -> str:
    """A path without the chunk at its end, whose name is its id; nothing if only one name is left."""
    end = f" {node_id}"
    shorter = path.removesuffix(end).rpartition(" ")[0] if path.endswith(end) else path  # without its edge, too
    return shorter if "→" in shorter or "←" in shorter else ""
