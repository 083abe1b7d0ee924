"""Analyzers and the BM25 index."""
