from llama_index.retrievers.hopweave.bm25 import BM25Retriever
from llama_index.retrievers.hopweave.full_text import FullTextRetriever
from llama_index.retrievers.hopweave.fusion import FusionRetriever
from llama_index.retrievers.hopweave.gate import GateRetriever
from llama_index.retrievers.hopweave.graph_boost import GraphBoostRetriever
from llama_index.retrievers.hopweave.intent_edges import IntentEdgesRetriever
from llama_index.retrievers.hopweave.keyword import KeywordRetriever
from llama_index.retrievers.hopweave.pagerank import PageRankRetriever
from llama_index.retrievers.hopweave.pagerank_pg import PageRankPGRetriever
from llama_index.retrievers.hopweave.recipe import RecipeRetriever
from llama_index.retrievers.hopweave.vector_search import VectorSearchRetriever

__all__ = [
    "BM25Retriever",
    "FullTextRetriever",
    "FusionRetriever",
    "GateRetriever",
    "GraphBoostRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankPGRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorSearchRetriever",
]
