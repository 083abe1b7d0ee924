"""hopweave's query engines for LlamaIndex."""

from llama_index.query_engine.hopweave.gate import GateQueryEngine
from llama_index.query_engine.hopweave.recipe import RecipeQueryEngine, load_query_engine

__all__ = ["GateQueryEngine", "RecipeQueryEngine", "load_query_engine"]
