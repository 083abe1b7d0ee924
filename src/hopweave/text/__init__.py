"""Lexical search: BM25 and full-text search."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
