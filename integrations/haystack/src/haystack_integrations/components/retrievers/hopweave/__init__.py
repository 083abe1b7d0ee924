"""hopweave's retrievers for Haystack, over a knowledge base file."""

from haystack_integrations.components.retrievers.hopweave.bm25 import BM25Retriever
from haystack_integrations.components.retrievers.hopweave.embedding import EmbeddingRetriever
from haystack_integrations.components.retrievers.hopweave.evidence_sum import EvidenceSumRetriever
from haystack_integrations.components.retrievers.hopweave.full_text import FullTextRetriever
from haystack_integrations.components.retrievers.hopweave.graph_boost import GraphBoostRetriever
from haystack_integrations.components.retrievers.hopweave.hybrid_graph import HybridGraphRetriever
from haystack_integrations.components.retrievers.hopweave.intent_edges import IntentEdgesRetriever
from haystack_integrations.components.retrievers.hopweave.keyword import KeywordRetriever
from haystack_integrations.components.retrievers.hopweave.pagerank import PageRankRetriever
from haystack_integrations.components.retrievers.hopweave.recipe import RecipeRetriever
from haystack_integrations.components.retrievers.hopweave.vector_search import VectorSearchRetriever

__all__ = [
    "BM25Retriever",
    "EmbeddingRetriever",
    "EvidenceSumRetriever",
    "FullTextRetriever",
    "GraphBoostRetriever",
    "HybridGraphRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorSearchRetriever",
]
