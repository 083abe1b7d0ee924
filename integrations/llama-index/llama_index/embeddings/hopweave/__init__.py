"""hopweave's embedding models for LlamaIndex."""

from llama_index.embeddings.hopweave.embedders import StaticEmbedding

__all__ = ["StaticEmbedding"]
