# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.sources.bm25 import BM25
from hopweave.sources.evidence_sum import EvidenceSum
from hopweave.sources.full_text import FullText
from hopweave.sources.graph_boost import GraphBoost
from hopweave.sources.intent_edges import IntentEdges
from hopweave.sources.keyword import Keyword
from hopweave.sources.pagerank import PageRank
from hopweave.sources.vector_search import VectorSearch

__all__ = [
    "BM25",
    "EvidenceSum",
    "FullText",
    "GraphBoost",
    "IntentEdges",
    "Keyword",
    "PageRank",
    "VectorSearch",
]
