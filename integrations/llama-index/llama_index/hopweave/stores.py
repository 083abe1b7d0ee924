"""Nodes out of LlamaIndex stores, by id."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any, cast

from llama_index.core.async_utils import asyncio_run
from llama_index.core.graph_stores.types import PropertyGraphStore
from llama_index.core.indices.base import BaseIndex
from llama_index.core.schema import BaseNode, MetadataMode
from llama_index.core.storage.docstore import BaseDocumentStore, SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import BasePydanticVectorStore, MetadataFilters
from llama_index.hopweave.sources import is_part_of_file, source_of

from hopweave.concurrency.threads import can_run_on_loop, run_on_loop
from hopweave.errors import reason_of

logger = logging.getLogger(__name__)

_ALL = 10_000_000  # more nodes than one would read at once


class IndexedNodes:
    """
    The nodes of an index whose vector store keeps no text. Its docstore may also hold nodes of other indexes, parents
    of its nodes, and nodes that were deleted from the index alone.

    Args:
        index: The index.

    """

    def __init__(self, index: Any) -> None:
        """Keep what says which nodes the index has, and the docstore."""
        self.docstore: BaseDocumentStore = index.docstore
        self._struct = index.index_struct
        self._vectors: SimpleVectorStore | None = (
            index.vector_store if isinstance(index.vector_store, SimpleVectorStore) else None
        )

    def among(self, ids: Sequence[str]) -> list[str]:
        """
        Of these ids, those of nodes that the index has.

        Args:
            ids: Ids of nodes.

        Returns:
            The ids, in the same order.

        """
        by_vector = self._struct.nodes_dict
        if all(by_vector.get(key) == key for key in ids):  # vectors have the ids of their nodes, as in most stores
            return [key for key in ids if self._has_vector(key)]
        own = self.ids()
        return [key for key in ids if key in own]

    def ids(self) -> set[str]:
        """
        The ids of all nodes of the index.

        Returns:
            The ids.

        """
        return {key for vector, key in self._struct.nodes_dict.items() if self._has_vector(vector)}

    def _has_vector(self, vector_id: str) -> bool:
        """Whether a vector is there, if one can tell: `delete_nodes` of an index leaves its list of nodes as it was."""
        return self._vectors is None or vector_id in self._vectors.data.embedding_dict


Store = BaseIndex[Any] | BaseDocumentStore | BasePydanticVectorStore | PropertyGraphStore
"""Where nodes live: an index, a docstore, a vector store or a property graph store."""

_ASKED = ("get_llama_nodes", "get_document", "get_nodes")


def checked_keeper(store: Any) -> Any:
    """
    The keeper of a store that gives nodes by id.

    Args:
        store: An index or a store.

    Returns:
        What `keeper_of` returns.

    Raises:
        ValueError: If it is no store.

    """
    keeper = keeper_of(store)
    if not isinstance(keeper, IndexedNodes) and not any(
        hasattr(keeper, name) or hasattr(keeper, f"a{name}") for name in _ASKED
    ):
        raise ValueError(
            f"store: must be an index, a docstore, a vector store or a property graph store, but got {store!r}"
        )
    return keeper


def keeper_of(store: Any) -> Any:
    """
    Of an index, the part that holds its nodes; any other store is its own keeper.

    Args:
        store: An index or a store.

    Returns:
        A docstore, a vector store, a property graph store, or the nodes that an index has in its docstore.

    """
    vectors = getattr(store, "vector_store", None)
    if getattr(store, "property_graph_store", None) is not None:
        return store.property_graph_store
    if vectors is None:
        return store
    if vectors.stores_text:
        return vectors
    return IndexedNodes(store) if hasattr(store.index_struct, "nodes_dict") else store.docstore


def nodes_in(keeper: Any, ids: Sequence[str]) -> list[BaseNode]:
    """
    The nodes with these ids, as far as the store has them.

    Args:
        keeper: The store.
        ids: Ids of nodes.

    Returns:
        The nodes, in the store's order.

    """
    ids = list(ids)
    if isinstance(keeper, IndexedNodes):
        ids, keeper = keeper.among(ids), keeper.docstore
    if not ids:  # some stores take that for everything
        return []
    if hasattr(keeper, "kept_nodes"):  # of a question, which has said whose nodes are meant
        return list(keeper.kept_nodes(ids))
    failures: list[Exception] = []
    for ask in _ways(keeper, ids):
        try:
            return list(ask())
        except Exception as error:  # a store may have a client for one of the two ways alone
            failures.append(error)
    raise ValueError(
        f"{type(keeper).__name__} gives no nodes by id: {failures[0]}; hand over a docstore that holds them"
    ) from failures[0]


def passing_nodes_in(keeper: Any, ids: Sequence[str], filters: MetadataFilters) -> list[BaseNode] | None:
    """
    The nodes with these ids that pass filters, of a store that takes both.

    Args:
        keeper: The store.
        ids: Ids of nodes.
        filters: Metadata filters.

    Returns:
        The nodes; None if the store does not take ids and filters, or gives nodes by id more quickly.

    """
    if not isinstance(keeper, BasePydanticVectorStore) or _is_qdrant(keeper):
        return None
    if hasattr(keeper, "kept_nodes"):
        return list(keeper.kept_nodes(list(ids), filters))
    options: dict[str, Any] = {"node_ids": list(ids), "filters": filters}
    if type(keeper).get_nodes is BasePydanticVectorStore.get_nodes or not options.keys() <= _parameters(keeper):
        return None
    try:
        if can_run_on_loop() and _has_async_calls(keeper):
            return list(run_on_loop(keeper.aget_nodes(**options)))
        return list(keeper.get_nodes(**options))
    except Exception as error:  # it does not know these filters
        logger.info("%s does not take ids and filters: %s", type(keeper).__name__, reason_of(error))
        logger.debug("what it says of them", exc_info=error)
        return None


def _parameters(keeper: Any) -> set[str]:
    return set(signature(keeper.get_nodes).parameters)


Present = BaseDocumentStore | Sequence[BaseNode]
"""What says which documents there are: a document store, or the documents that a reader has read."""


def gone_from(present: Present, sources: Iterable[str]) -> list[str]:
    """
    Of the sources of nodes, those that are no longer there.

    Args:
        present: A document store, such as that of an ingestion pipeline, or all documents that were read.
        sources: The names of the sources.

    Returns:
        The names of those that are gone, or have no text any more.

    """
    if not isinstance(present, BaseDocumentStore):
        return sorted(set(sources) - names_in(present))
    # not by the table of hashes, which has one document for several that are alike
    gone = [key for key in sources if present.get_document_hash(key) is None and not present.document_exists(key)]
    there = names_in(present.docs.values()) if any(map(is_part_of_file, gone)) else set()
    return [key for key in gone if key not in there]


def names_in(documents: Iterable[BaseNode]) -> set[str]:
    """
    The names of documents as sources of nodes.

    Args:
        documents: Documents.

    Returns:
        The names; not those of documents without text, unless they tell the state of a file, as an empty one may have
        a node, and what it had before has another name.

    """
    named = ((source_of(one) or one.node_id, one.get_content(metadata_mode=MetadataMode.NONE)) for one in documents)
    return {name for name, text in named if text.strip() or is_part_of_file(name)}


def count_in(keeper: Any) -> int | None:
    """
    How many nodes a store says that it has.

    Args:
        keeper: The store.

    Returns:
        The number; None if the store cannot say.

    """
    if _is_qdrant(keeper) and hasattr(keeper.client, "count"):
        return int(keeper.client.count(keeper.collection_name).count)
    collection: Any = getattr(keeper, "_collection", None)  # as Chroma's
    return None if collection is None else int(collection.count())


def stored_nodes(store: Any) -> list[BaseNode]:
    """
    All nodes of a store, with their embeddings if it keeps them there.

    Args:
        store: An index, a docstore, or a vector store that keeps the text of its nodes. Of an index, only the nodes
            that it has, whatever else its docstore holds.

    Returns:
        The nodes.

    """
    keeper = keeper_of(store)
    if isinstance(keeper, IndexedNodes):
        own = keeper.ids()
        return [node for key, node in keeper.docstore.docs.items() if key in own]
    if hasattr(keeper, "docs"):
        return list(keeper.docs.values())
    options: dict[str, Any] = {"filters": MetadataFilters(filters=[])}
    if "limit" in signature(keeper.get_nodes).parameters:  # some stores return so many and say nothing of the rest
        options["limit"] = _ALL
    try:
        return list(keeper.get_nodes(**options))
    except Exception as error:  # a store may have an asynchronous client alone
        if not _has_async_calls(keeper):
            raise ValueError(
                f"{type(keeper).__name__} does not list its nodes: {error}; hand over a docstore"
            ) from error
    return list(asyncio_run(keeper.aget_nodes(**options)))


def _ways(keeper: Any, ids: list[str]) -> list[Callable[[], Iterable[BaseNode]]]:
    """How to ask the store, the better way first."""
    if not _has_async_calls(keeper):
        return [lambda: _nodes(keeper, ids)]
    if can_run_on_loop():
        return [lambda: run_on_loop(_nodes_async(keeper, ids)), lambda: _nodes(keeper, ids)]
    return [lambda: _nodes(keeper, ids), lambda: asyncio_run(_nodes_async(keeper, ids))]


def _has_async_calls(keeper: Any) -> bool:
    if isinstance(keeper, SimpleDocumentStore):  # in memory
        return False
    if isinstance(keeper, BasePydanticVectorStore):
        return type(keeper).aget_nodes is not BasePydanticVectorStore.aget_nodes
    return hasattr(keeper, "aget_document") or hasattr(keeper, "aget_llama_nodes")


def _nodes(keeper: Any, ids: list[str]) -> Iterable[BaseNode]:
    if hasattr(keeper, "get_llama_nodes"):
        return cast("list[BaseNode]", keeper.get_llama_nodes(ids))
    if hasattr(keeper, "get_document"):
        return [node for node in (keeper.get_document(key, raise_error=False) for key in ids) if node is not None]
    if _is_qdrant(keeper) and hasattr(keeper.client, "retrieve"):
        points = keeper.client.retrieve(keeper.collection_name, ids, with_vectors=True)
        return cast("list[BaseNode]", keeper.parse_to_query_result(points).nodes)
    return cast("list[BaseNode]", keeper.get_nodes(node_ids=ids))


def _is_qdrant(keeper: Any) -> bool:
    """Whether nodes are better asked of the client: Qdrant's get_nodes filters, 100 times as slow in memory."""
    return hasattr(keeper, "parse_to_query_result") and hasattr(keeper, "collection_name")


async def _nodes_async(keeper: Any, ids: list[str]) -> Iterable[BaseNode]:
    if hasattr(keeper, "aget_llama_nodes"):
        return cast("list[BaseNode]", await keeper.aget_llama_nodes(ids))
    if hasattr(keeper, "aget_document"):
        found = await asyncio.gather(*(keeper.aget_document(key, raise_error=False) for key in ids))
        return [node for node in found if node is not None]
    if _is_qdrant(keeper) and getattr(keeper, "_aclient", None) is not None:
        points = await keeper._aclient.retrieve(keeper.collection_name, ids, with_vectors=True)
        return cast("list[BaseNode]", keeper.parse_to_query_result(points).nodes)
    return cast("list[BaseNode]", await keeper.aget_nodes(node_ids=ids))
