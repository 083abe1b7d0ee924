"""Vector search and embedders."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
