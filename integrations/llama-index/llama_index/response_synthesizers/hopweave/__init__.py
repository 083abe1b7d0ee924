"""hopweave's response synthesizers for LlamaIndex."""

from llama_index.response_synthesizers.hopweave.assemble import CitedSynthesizer
from llama_index.response_synthesizers.hopweave.extract import ExtractiveSynthesizer

__all__ = ["CitedSynthesizer", "ExtractiveSynthesizer"]
