"""hopweave's embedders for Haystack."""

from haystack_integrations.components.embedders.hopweave.static import StaticDocumentEmbedder, StaticTextEmbedder

__all__ = [
    "StaticDocumentEmbedder",
    "StaticTextEmbedder",
]
