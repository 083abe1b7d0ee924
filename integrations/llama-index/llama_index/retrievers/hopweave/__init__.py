"""hopweave's retrievers for LlamaIndex."""

from llama_index.retrievers.hopweave.recipe import RecipeRetriever

__all__ = ["RecipeRetriever"]
