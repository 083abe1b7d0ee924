"""Contexts for prompts with citations, and extractive answers."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
