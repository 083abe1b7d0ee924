"""hopweave's embedding models for LlamaIndex."""

from llama_index.embeddings.hopweave.embedders import StaticEmbedding
from llama_index.embeddings.hopweave.onnx import OnnxEmbedding

__all__ = ["OnnxEmbedding", "StaticEmbedding"]
