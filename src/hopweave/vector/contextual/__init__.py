"""Contextual embeddings that are trained on the edges of a graph, without any other model."""
