"""hopweave's embedding models for LlamaIndex."""

from llama_index.embeddings.hopweave.embedders import StaticEmbedding
from llama_index.embeddings.hopweave.graph_embedder import GraphEmbedding
from llama_index.embeddings.hopweave.onnx import OnnxEmbedding
from llama_index.embeddings.hopweave.remote_embedder import RemoteEmbedding

__all__ = ["GraphEmbedding", "OnnxEmbedding", "RemoteEmbedding", "StaticEmbedding"]
