"""hopweave's retrievers for Haystack, over a knowledge base file."""

from haystack_integrations.components.retrievers.hopweave.bm25 import Bm25Retriever
from haystack_integrations.components.retrievers.hopweave.fts import FullTextRetriever
from haystack_integrations.components.retrievers.hopweave.hybrid_graph import HybridGraphRetriever
from haystack_integrations.components.retrievers.hopweave.keyword import KeywordRetriever
from haystack_integrations.components.retrievers.hopweave.neighbours import GraphBoostRetriever, IntentEdgesRetriever
from haystack_integrations.components.retrievers.hopweave.passages import PageRankRetriever
from haystack_integrations.components.retrievers.hopweave.recipe import RecipeRetriever
from haystack_integrations.components.retrievers.hopweave.vector import EmbeddingRetriever, VectorRetriever

__all__ = [
    "Bm25Retriever",
    "EmbeddingRetriever",
    "FullTextRetriever",
    "GraphBoostRetriever",
    "HybridGraphRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorRetriever",
]
