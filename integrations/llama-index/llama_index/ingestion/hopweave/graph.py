"""The graph of nodes that live in a store of the user's."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.hopweave.nodes import to_document

from hopweave.document import Document
from hopweave.graph_store.store import GraphStore


class GraphWriter(TransformComponent):
    """
    Writes what the nodes of an ingestion pipeline contribute to a graph, without texts and vectors, and hands them on.

    The nodes of a document (`ref_doc_id`) replace those that were written of it before. Writing twice changes nothing.

    Args:
        graph: An open graph: `GraphStore.open` with the path of a file or the URL of a PostgreSQL database.

    Examples:
        ```python
        from hopweave import GraphStore
        from llama_index.core import Document
        from llama_index.core.ingestion import IngestionPipeline
        from llama_index.core.node_parser import SentenceSplitter
        from llama_index.ingestion.hopweave import GraphWriter

        graph = GraphStore.open("graph.db")
        pipeline = IngestionPipeline(transformations=[SentenceSplitter(), GraphWriter(graph=graph)])
        pipeline.run(documents=[Document(text="The tide gate opens at six.")])
        ```

    """

    graph: GraphStore = Field(exclude=True, repr=False, description="Where contributions are written.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "GraphWriter"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """What the pipeline's cache goes by."""
        return {**super().to_dict(**kwargs), "graph": repr(self.graph), "version": self.graph.version}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ARG002
        """Write the contributions of the nodes and hand the nodes on."""
        by_source: dict[str, list[Document]] = {}
        for document in map(to_document, nodes):
            by_source.setdefault(document.source, []).append(document)
        for source, documents in by_source.items():
            if source:
                self.graph.replace(source, documents)
            else:
                self.graph.add(documents)
        return nodes

    def delete(self, ref_doc_id: str) -> int:
        """
        Take all nodes of a document out of the graph.

        Args:
            ref_doc_id: The id of the document.

        Returns:
            The number of nodes that were there.

        """
        return self.graph.delete(source=ref_doc_id)

    def delete_nodes(self, node_ids: Sequence[str]) -> int:
        """
        Take nodes out of the graph.

        Args:
            node_ids: Their ids.

        Returns:
            The number of nodes that were there.

        """
        return self.graph.delete(node_ids)

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)
