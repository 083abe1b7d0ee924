"""hopweave's document store for Haystack."""

from haystack_integrations.document_stores.hopweave.document_store import HopweaveDocumentStore

__all__ = ["HopweaveDocumentStore"]
