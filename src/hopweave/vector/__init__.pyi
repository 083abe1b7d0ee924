# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.vector.embedders import Cascade, SentenceTransformerEmbedder, StaticEmbedder
from hopweave.vector.graph_embedder import GraphEmbedder
from hopweave.vector.onnx import OnnxEmbedder
from hopweave.vector.remote_embedder import RemoteEmbedder

__all__ = [
    "Cascade",
    "GraphEmbedder",
    "OnnxEmbedder",
    "RemoteEmbedder",
    "SentenceTransformerEmbedder",
    "StaticEmbedder",
]
