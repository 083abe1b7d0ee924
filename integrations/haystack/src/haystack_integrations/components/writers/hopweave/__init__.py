"""hopweave's writers for Haystack."""

from haystack_integrations.components.writers.hopweave.graph import GraphWriter
from haystack_integrations.components.writers.hopweave.knowledge_base import KnowledgeBaseWriter

__all__ = [
    "GraphWriter",
    "KnowledgeBaseWriter",
]
