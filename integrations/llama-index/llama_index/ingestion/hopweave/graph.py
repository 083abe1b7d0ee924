"""The graph of nodes that live in a store of the user's."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr, SecretStr
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.hopweave.nodes import to_document
from llama_index.hopweave.stores import Present
from llama_index.ingestion.hopweave.run import mirror_store, sync_home, write_nodes

from hopweave.document import Document
from hopweave.graph_store.location import GraphLocation
from hopweave.graph_store.store import GraphStore
from hopweave.knowledge_base.indexing_run import MAX_DELETED_SHARE


class GraphWriter(TransformComponent):
    """
    Writes what the nodes of an ingestion pipeline contribute to a graph, without texts and vectors, and hands them on.

    The nodes of a document (`ref_doc_id`) are known as its parts and replace those that were written of it before.
    Writing twice changes nothing. LlamaIndex does not report deleted documents to transformations: call `delete`,
    `sync` after the run of a pipeline with a docstore, or `mirror` from time to time.

    Args:
        graph: Path of a file, URL of a PostgreSQL database (a `SecretStr` of pydantic if it holds a password), or an
            open `GraphStore`. It is opened on first use.
        graph_schema: Schema of the database in which the tables of the graph lie, for a URL.
        max_deleted_share: How much of what is there `sync` and `mirror` may delete at once, as far as a store's own
            count does not confirm its listing; 1 for all of it.

    Examples:
        ```python
        from llama_index.core import Document
        from llama_index.core.ingestion import IngestionPipeline
        from llama_index.core.node_parser import SentenceSplitter
        from llama_index.ingestion.hopweave import GraphWriter

        writer = GraphWriter(graph="graph.db")
        pipeline = IngestionPipeline(transformations=[SentenceSplitter(), writer])
        pipeline.run(documents=[Document(text="The tide gate opens at six.")])
        ```

    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)  # it may be a URL with a password

    graph: GraphStore | str | Path | SecretStr = Field(
        exclude=True, repr=False, union_mode="left_to_right", description="Where contributions are written."
    )
    graph_schema: str = Field(default="hopweave", description="Schema of the database with the tables of the graph.")
    max_deleted_share: float = Field(
        default=MAX_DELETED_SHARE, ge=0, le=1, description="How much `sync` and `mirror` may delete at once."
    )
    _home: GraphStore | GraphLocation = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Refuse what is no place for a graph."""
        super().model_post_init(context)
        where = self.graph.get_secret_value if isinstance(self.graph, SecretStr) else self.graph
        self._home = where if isinstance(where, GraphStore) else GraphLocation(where, self.graph_schema, writable=True)

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "GraphWriter"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """What the pipeline's cache goes by."""
        store = self._open()
        return {**super().to_dict(**kwargs), "graph": repr(store), "version": store.version}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ARG002
        """Write the contributions of the nodes and hand the nodes on."""
        self._write(nodes)
        return nodes

    def _write(self, nodes: Sequence[BaseNode]) -> None:
        write_nodes(self, self._open(), list(map(_without_node, nodes)))

    def delete(self, ref_doc_id: str) -> int:
        """
        Take all nodes of a document out of the graph.

        Args:
            ref_doc_id: The id of the document.

        Returns:
            The number of nodes that were there.

        """
        return self._open().delete(source=ref_doc_id) + self._open().delete(where={"ref_doc_id": ref_doc_id})

    def delete_nodes(self, node_ids: Sequence[str] | None = None, *, where: dict[str, Any] | None = None) -> int:
        """
        Take nodes out of the graph; give one of the two.

        Args:
            node_ids: Their ids.
            where: Metadata values that all nodes have which go, such as `{"file_path": "ships.md"}`.

        Returns:
            The number of nodes that were there.

        """
        return self._open().delete(node_ids, where=where)

    def sync(self, present: Present) -> int:
        """
        Remove the nodes of documents that are no longer there.

        Args:
            present: All documents that a reader has read, or a document store that drops what is gone. That of a
                pipeline drops nothing without a vector store; give the documents then.

        Returns:
            The number of nodes removed.

        Raises:
            KnowledgeBaseError: If that were all, or more than `max_deleted_share`.

        """
        return sync_home(self, self._open(), present)

    def mirror(self, store: Any) -> int:
        """
        Make the graph that of the nodes of a store which you already have, and of no others.

        All nodes are read, but what has not changed is not written again.

        Args:
            store: An index, a docstore, or a vector store that keeps the text of its nodes.

        Returns:
            The number of nodes that the graph had besides.

        """
        return mirror_store(self, self._open(), store)

    def close(self) -> None:
        """Let go of the graph; one that was open when it was given stays open."""
        if isinstance(self._home, GraphLocation):
            self._home.close()

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)

    def _open(self) -> GraphStore:
        return self._home.open() if isinstance(self._home, GraphLocation) else self._home


def _without_node(node: BaseNode) -> Document:
    """The node as a document, without what is only there to make the node again: the store of the user has it."""
    document = to_document(node)
    metadata = {name: value for name, value in document.metadata.items() if not name.startswith("_node_")}
    return replace(document, metadata=metadata, vector=None)
