"""The graph of documents: built from them, linked to questions, walked."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
