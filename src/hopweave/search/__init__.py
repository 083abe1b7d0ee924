"""The steps of a search: asking the sources, and the result."""
