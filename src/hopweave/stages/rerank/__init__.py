"""Reranking by a model."""
