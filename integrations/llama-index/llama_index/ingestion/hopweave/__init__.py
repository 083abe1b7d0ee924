"""hopweave's transformations for LlamaIndex ingestion pipelines."""

from llama_index.ingestion.hopweave.store import KnowledgeBaseWriter

__all__ = ["KnowledgeBaseWriter"]
