"""hopweave's retrievers for LlamaIndex."""

from llama_index.retrievers.hopweave.bm25 import Bm25Retriever
from llama_index.retrievers.hopweave.fts import FullTextRetriever
from llama_index.retrievers.hopweave.fusion import FusionRetriever
from llama_index.retrievers.hopweave.gate import GatedRetriever
from llama_index.retrievers.hopweave.keyword import KeywordRetriever
from llama_index.retrievers.hopweave.neighbours import GraphBoostRetriever, IntentEdgesRetriever
from llama_index.retrievers.hopweave.passages import PageRankRetriever
from llama_index.retrievers.hopweave.property_graph import PageRankPGRetriever
from llama_index.retrievers.hopweave.recipe import RecipeRetriever
from llama_index.retrievers.hopweave.vector import VectorRetriever

__all__ = [
    "Bm25Retriever",
    "FullTextRetriever",
    "FusionRetriever",
    "GatedRetriever",
    "GraphBoostRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankPGRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorRetriever",
]
