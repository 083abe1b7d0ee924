"""Indexes of a knowledge base: images on disk, what is held in memory, and compaction."""
