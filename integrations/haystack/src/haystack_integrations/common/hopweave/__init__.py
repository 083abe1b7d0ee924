"""What all hopweave components for Haystack share."""

from haystack_integrations.common.hopweave.documents import to_document, to_hit

__all__ = ["to_document", "to_hit"]
