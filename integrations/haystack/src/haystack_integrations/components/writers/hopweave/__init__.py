"""hopweave's writers for Haystack."""

from haystack_integrations.components.writers.hopweave.knowledge_base import KnowledgeBaseWriter

__all__ = [
    "KnowledgeBaseWriter",
]
