"""Where documents live: in a knowledge base, or in a store of LlamaIndex."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from llama_index.core.schema import NodeWithScore
from llama_index.hopweave.nodes import to_hit

from hopweave.component import Knowledge
from hopweave.graph.documents_elsewhere import DocumentsElsewhere
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase


def opened(knowledge_base: Knowledge | str | Path) -> Knowledge:
    """
    The knowledge base itself, or the one in that file, for reading.

    Args:
        knowledge_base: An open knowledge base, or the path of its file.

    Returns:
        An open knowledge base.

    """
    if isinstance(knowledge_base, str | Path):
        return KnowledgeBase.open(knowledge_base, read_only=True)
    return knowledge_base


def documents_in(store: Any, graph: GraphPort) -> DocumentsElsewhere:
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

    return DocumentsElsewhere(graph, fetch)


def _keeper(store: Any) -> Any:
    """Of an index, the part that holds its nodes."""
    vectors = getattr(store, "vector_store", None)
    if getattr(store, "property_graph_store", None) is not None:
        return store.property_graph_store
    if vectors is None:
        return store
    return vectors if vectors.stores_text else store.docstore


def _nodes(keeper: Any, ids: list[str]) -> Iterable[Any]:
    if not ids:  # some stores take that for everything
        return []
    if hasattr(keeper, "get_llama_nodes"):
        return keeper.get_llama_nodes(ids)
    if hasattr(keeper, "get_document"):
        return [node for node in (keeper.get_document(key, raise_error=False) for key in ids) if node is not None]
    return keeper.get_nodes(node_ids=ids)
