"""hopweave's embedding models for LlamaIndex."""

from llama_index.embeddings.hopweave.embedders import StaticEmbedding
from llama_index.embeddings.hopweave.graph_embedder import GraphEmbedding
from llama_index.embeddings.hopweave.onnx import OnnxEmbedding

__all__ = ["GraphEmbedding", "OnnxEmbedding", "StaticEmbedding"]
