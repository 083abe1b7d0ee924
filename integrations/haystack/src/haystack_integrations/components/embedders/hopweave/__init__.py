"""hopweave's embedders for Haystack."""

from haystack_integrations.components.embedders.hopweave.onnx import OnnxDocumentEmbedder, OnnxTextEmbedder
from haystack_integrations.components.embedders.hopweave.static import StaticDocumentEmbedder, StaticTextEmbedder

__all__ = [
    "OnnxDocumentEmbedder",
    "OnnxTextEmbedder",
    "StaticDocumentEmbedder",
    "StaticTextEmbedder",
]
