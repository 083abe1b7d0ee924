"""Hits in, hits out: rescore, filter, rerank, diversify."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
