"""What all hopweave components for LlamaIndex share."""

from llama_index.hopweave.embedder import to_embedder
from llama_index.hopweave.failures import SourceFailedEvent
from llama_index.hopweave.filters import to_predicate
from llama_index.hopweave.knowledge import documents_in, opened
from llama_index.hopweave.nodes import to_document, to_hit, to_node
from llama_index.hopweave.questions import RequestBundle, TenantBundle, to_query
from llama_index.hopweave.retriever_source import RetrieverSource

__all__ = [
    "RequestBundle",
    "RetrieverSource",
    "SourceFailedEvent",
    "TenantBundle",
    "documents_in",
    "opened",
    "to_document",
    "to_embedder",
    "to_hit",
    "to_node",
    "to_predicate",
    "to_query",
]
