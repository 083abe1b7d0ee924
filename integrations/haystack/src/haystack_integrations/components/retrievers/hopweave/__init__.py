"""hopweave's retrievers for Haystack."""

from haystack_integrations.components.retrievers.hopweave.recipe import RecipeRetriever

__all__ = ["RecipeRetriever"]
