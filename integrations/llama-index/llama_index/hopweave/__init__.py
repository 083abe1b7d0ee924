"""What all hopweave components for LlamaIndex share."""

from llama_index.hopweave.nodes import to_hit, to_node

__all__ = ["to_hit", "to_node"]
