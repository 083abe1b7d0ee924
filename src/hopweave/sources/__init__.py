"""Sources: a question in, ranked hits out. One file per kind that a recipe can name."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
