"""hopweave's vector store for LlamaIndex."""

from llama_index.vector_stores.hopweave.store import HopweaveVectorStore

__all__ = ["HopweaveVectorStore"]
