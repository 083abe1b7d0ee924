# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.text.bm25 import BM25
from hopweave.text.full_text import FullText
from hopweave.text.keyword import Keyword

__all__ = [
    "BM25",
    "FullText",
    "Keyword",
]
