"""Vectors out of vector stores."""

from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.vector_stores import SimpleVectorStore

Lookup = Callable[[list[str]], Mapping[str, Any]]


def stored_vectors(vector_store: Any) -> Lookup | None:
    """
    A function from node ids to the vectors that a store keeps for them.

    Args:
        vector_store: A vector store, an index that has one, such a function, or None.

    Returns:
        The function, or None if there is no store.

    """
    store: Any = getattr(vector_store, "vector_store", vector_store)
    if isinstance(store, SimpleVectorStore):  # it keeps vectors alone, so it has no nodes to give
        return lambda ids: {key: store.data.embedding_dict.get(key) for key in ids}
    if hasattr(store, "get_nodes"):
        nodes = getattr(store, "kept_nodes", store.get_nodes)
        return lambda ids: {node.node_id: node.embedding for node in nodes(node_ids=ids)}
    lookup: Lookup | None = store
    return lookup
