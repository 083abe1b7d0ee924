"""hopweave: multi-hop graph evidence woven into hybrid retrieval."""

__version__ = "0.1.0"
