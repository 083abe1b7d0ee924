"""hopweave's transformations for LlamaIndex ingestion pipelines."""

from llama_index.ingestion.hopweave.graph import GraphWriter
from llama_index.ingestion.hopweave.noise import NoiseFilter
from llama_index.ingestion.hopweave.store import KnowledgeBaseWriter

__all__ = ["GraphWriter", "KnowledgeBaseWriter", "NoiseFilter"]
