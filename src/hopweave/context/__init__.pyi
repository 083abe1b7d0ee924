# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.context.context_builder import ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer

__all__ = [
    "ContextBuilder",
    "ExtractiveAnswer",
]
