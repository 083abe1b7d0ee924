"""A search service on hopweave: one knowledge base, one recipe, one page."""
