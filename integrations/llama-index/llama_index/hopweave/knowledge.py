"""Where documents live: in a knowledge base, or in a store of LlamaIndex."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode, NodeWithScore
from llama_index.hopweave.embedder import chosen_model, to_embedder
from llama_index.hopweave.nodes import to_hit

from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.knowledge_base.shared import open_shared


class NoDocuments(Knowledge):
    """The place of recipes whose retrievers bring documents of their own; those retrievers see to tenants."""

    version = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Tenants alone."""
        return frozenset({Capability.TENANTS})

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:  # noqa: ARG002
        """Nothing."""
        return {}


def opened(knowledge_base: Knowledge | str | Path, embed_model: BaseEmbedding | None = None) -> Knowledge:
    """
    The knowledge base itself, or the one in that file, for reading.

    Whatever is opened by the same path shares connections, indexes and graph; each is closed by itself.

    Args:
        knowledge_base: An open knowledge base, or the path of its file.
        embed_model: The model that embeds questions, for a file whose embedder cannot be made from what it says. If
            not given, LlamaIndex's `Settings.embed_model` is used for a file that holds vectors of that model.

    Returns:
        An open knowledge base.

    """
    if not isinstance(knowledge_base, str | Path):
        return knowledge_base
    if embed_model is not None:
        return open_shared(knowledge_base, embedder=to_embedder(embed_model))
    found = open_shared(knowledge_base)
    usual = chosen_model(None)
    if found.settings.embedder is None and usual is not None and usual.model_name == found.settings.model:
        found.close()
        return open_shared(knowledge_base, embedder=to_embedder(usual))
    return found


def documents_in(store: Any, graph: GraphPort) -> ExternalDocuments:
    """
    Nodes that a LlamaIndex store holds, under the graph that connects them.

    ```python
    from llama_index.hopweave import documents_in
    from llama_index.retrievers.hopweave import PageRankRetriever

    there = documents_in(index, knowledge_base.graph)
    retriever = PageRankRetriever(there, upstream={"vector": index.as_retriever()})
    ```

    Args:
        store: An index, a docstore, a vector store or a property graph store that gives nodes by id.
        graph: The graph; its passages have the ids of the nodes.

    Returns:
        What a graph retriever takes in place of a knowledge base.

    """
    keeper = _keeper(store)

    def fetch(ids: list[str]) -> Iterable[Hit]:
        return [to_hit(NodeWithScore(node=node)) for node in _nodes(keeper, ids)]

    return ExternalDocuments(graph, fetch)


def _keeper(store: Any) -> Any:
    """Of an index, the part that holds its nodes."""
    vectors = getattr(store, "vector_store", None)
    if getattr(store, "property_graph_store", None) is not None:
        return store.property_graph_store
    if vectors is None:
        return store
    return vectors if vectors.stores_text else store.docstore


def _nodes(keeper: Any, ids: list[str]) -> Iterable[BaseNode]:
    if not ids:  # some stores take that for everything
        return []
    if hasattr(keeper, "get_llama_nodes"):
        return cast("list[BaseNode]", keeper.get_llama_nodes(ids))
    if hasattr(keeper, "get_document"):
        return [node for node in (keeper.get_document(key, raise_error=False) for key in ids) if node is not None]
    return cast("list[BaseNode]", keeper.get_nodes(node_ids=ids))
