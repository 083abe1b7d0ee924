"""Vectors of hits, for stages that compare hits."""
