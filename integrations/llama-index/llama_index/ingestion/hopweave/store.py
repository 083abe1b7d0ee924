"""Nodes into a knowledge base, graph and all."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.hopweave.nodes import to_document

from hopweave.knowledge_base.store import KnowledgeBase


class KnowledgeBaseWriter(TransformComponent):
    """
    Writes the nodes of an ingestion pipeline into a knowledge base, which also builds their graph, and hands them on.

    Nodes without an embedding are embedded by the knowledge base. Writing twice changes nothing. The pipeline's cache
    is told the version of the knowledge base, so it never skips a write that is still to be done.

    Args:
        knowledge_base: An open knowledge base.

    Examples:
        ```python
        from hopweave import KnowledgeBase
        from llama_index.core import Document
        from llama_index.core.ingestion import IngestionPipeline
        from llama_index.core.node_parser import SentenceSplitter
        from llama_index.ingestion.hopweave import KnowledgeBaseWriter

        kb = KnowledgeBase.open()
        pipeline = IngestionPipeline(transformations=[SentenceSplitter(), KnowledgeBaseWriter(knowledge_base=kb)])
        pipeline.run(documents=[Document(text="The tide gate opens at six.")])
        ```

    """

    knowledge_base: KnowledgeBase = Field(exclude=True, repr=False, description="Where the nodes are written.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "KnowledgeBaseWriter"

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """What the pipeline's cache goes by."""
        kept = {"path": str(self.knowledge_base.path), "version": self.knowledge_base.version}
        return {**super().to_dict(**kwargs), **kept}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ARG002
        """Write the nodes and hand them on."""
        self.knowledge_base.add(to_document(node) for node in nodes)
        return nodes

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)
