"""Hits in, hits out: rescore, filter, rerank, diversify."""
