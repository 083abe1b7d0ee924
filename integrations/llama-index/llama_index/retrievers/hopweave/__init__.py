"""hopweave's retrievers for LlamaIndex."""

from llama_index.hopweave.exports import exports

from hopweave.component import Source

_OTHERS = {
    "FusionRetriever": "fusion",
    "GateRetriever": "gate",
    "PageRankPGRetriever": "pagerank_pg",
    "RecipeRetriever": "recipe",
}

__all__, __getattr__ = exports(__name__, Source, "Retriever", _OTHERS)
