"""Nodes into a knowledge base, graph and all."""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, PrivateAttr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import BaseNode, TransformComponent
from llama_index.hopweave.embedder import to_embedder
from llama_index.hopweave.nodes import to_document
from llama_index.hopweave.stores import Present
from llama_index.ingestion.hopweave.noise import NoiseFilter
from llama_index.ingestion.hopweave.run import mirror_store, sync_home, write_nodes

from hopweave.knowledge_base.indexing_run import MAX_DELETED_SHARE
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.metadata.tenants import CheckedTenant


class KnowledgeBaseWriter(TransformComponent):
    """
    Writes the nodes of an ingestion pipeline into a knowledge base, which also builds their graph, and hands them on.

    Nodes without an embedding are embedded by the knowledge base. Writing twice changes nothing. The nodes of a
    document replace those that were written of it before: documents are known by `ref_doc_id`, or by `file_path` and
    content if a reader gave them random ids. The pipeline's cache key has the version
    of the knowledge base, so it never skips a write that is still to be done.

    LlamaIndex does not report deleted documents to transformations: call `sync(documents)` after the run, or let the
    pipeline write through `vector_store=HopweaveVectorStore(...)`, which `DocstoreStrategy.UPSERTS_AND_DELETE` deletes
    from.

    Args:
        knowledge_base: An open knowledge base.
        embed_model: The model that made the embeddings of the nodes, if an earlier transformation did. It must be that
            of the knowledge base; not needed if the knowledge base was opened with it.
        tenant: Metadata values that all nodes written here have, where tenants share a knowledge base. Then only those
            of the tenant are replaced or removed; without, a document replaces one with the same id of another tenant.
        skip_noise: Whether to leave out what `NoiseFilter` leaves out. These nodes are not handed on, and what was
            written under their ids before is removed; `skipped` has the reasons of the last call, by id.
        max_deleted_share: How much of what is there `sync` and `mirror` may delete at once, as far as a store's own
            count does not confirm its listing; 1 for all of it.

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

    model_config = ConfigDict(extra="forbid")

    knowledge_base: KnowledgeBase = Field(exclude=True, repr=False, description="Where the nodes are written.")

    embed_model: BaseEmbedding | None = Field(
        default=None, exclude=True, repr=False, description="The model that made the embeddings of the nodes."
    )

    tenant: CheckedTenant = Field(
        default=None, description="Metadata values that nodes must have to be written, replaced or removed."
    )

    skip_noise: bool = Field(default=False, description="Whether to leave out what NoiseFilter leaves out.")

    max_deleted_share: float = Field(
        default=MAX_DELETED_SHARE, ge=0, le=1, description="How much `sync` and `mirror` may delete at once."
    )

    _skipped: dict[str, str] = PrivateAttr(default_factory=dict)

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "KnowledgeBaseWriter"

    @property
    def skipped(self) -> dict[str, str]:
        """Why nodes were left out by the last call, by id."""
        return dict(self._skipped)

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """What the pipeline's cache goes by."""
        kept = {"path": str(self.knowledge_base.path), "version": self.knowledge_base.version}
        return {**super().to_dict(**kwargs), **kept}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ARG002
        """Write the nodes and hand them on."""
        for number, node in enumerate(nodes):
            if not isinstance(node, BaseNode):
                raise ValueError(
                    f"nodes: must be nodes, as TextNode(…), but number {number} is a {type(node).__name__}"
                )
        self._skipped = NoiseFilter().noise_in(nodes) if self.skip_noise else {}
        if self._skipped:
            sources = {node.ref_doc_id for node in nodes if node.ref_doc_id}
            nodes = NoiseFilter()(nodes)
            for source in sources - {node.ref_doc_id for node in nodes}:  # of which nothing is left
                self.delete(source)
            self.knowledge_base.delete(self._skipped, tenant=self.tenant)
        self._write(nodes)
        return nodes

    def _write(self, nodes: Sequence[BaseNode]) -> None:
        made_by = None if self.embed_model is None else to_embedder(self.embed_model).model_name
        scope = {"tenant": self.tenant}
        write_nodes(self, self.knowledge_base, list(map(to_document, nodes)), scope=scope, vectors_of=made_by)

    def delete(self, ref_doc_id: str) -> int:
        """
        Remove all nodes of a document.

        Args:
            ref_doc_id: The id of the document.

        Returns:
            The number of nodes removed.

        """
        removed = self.knowledge_base.replace(ref_doc_id, (), tenant=self.tenant).removed
        return removed + self.knowledge_base.delete(where={"ref_doc_id": ref_doc_id}, tenant=self.tenant)

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
        return sync_home(self, self.knowledge_base, present, {"tenant": self.tenant})

    def mirror(self, store: Any) -> int:
        """
        Make the knowledge base hold the nodes of a store that you already have, and no others.

        All nodes are read, but what has not changed is not written again. In a knowledge base that was opened with
        `embedder=None`, embeddings are kept as the store has them.

        Args:
            store: An index, a docstore, or a vector store that keeps the text of its nodes.

        Returns:
            The number of nodes removed.

        Raises:
            KnowledgeBaseError: If the store lists fewer nodes than it counts, or all would be deleted.

        """
        return mirror_store(self, self.knowledge_base, store, {"tenant": self.tenant})

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)
