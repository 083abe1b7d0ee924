"""What all hopweave components for Haystack share."""

from haystack_integrations.common.hopweave.documents import receipts, to_document, to_hit

__all__ = ["receipts", "to_document", "to_hit"]
