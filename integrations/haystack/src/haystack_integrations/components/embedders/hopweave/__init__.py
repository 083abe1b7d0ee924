"""hopweave's embedders for Haystack."""

from haystack_integrations.components.embedders.hopweave.graph_embedder import GraphDocumentEmbedder, GraphTextEmbedder
from haystack_integrations.components.embedders.hopweave.onnx import OnnxDocumentEmbedder, OnnxTextEmbedder
from haystack_integrations.components.embedders.hopweave.remote_embedder import (
    RemoteDocumentEmbedder,
    RemoteTextEmbedder,
)
from haystack_integrations.components.embedders.hopweave.static import StaticDocumentEmbedder, StaticTextEmbedder

__all__ = [
    "GraphDocumentEmbedder",
    "GraphTextEmbedder",
    "OnnxDocumentEmbedder",
    "OnnxTextEmbedder",
    "RemoteDocumentEmbedder",
    "RemoteTextEmbedder",
    "StaticDocumentEmbedder",
    "StaticTextEmbedder",
]
