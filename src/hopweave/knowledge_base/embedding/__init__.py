"""Whose vectors a file holds, and training an embedder of its own."""
