"""hopweave's response synthesizers for LlamaIndex."""

from llama_index.response_synthesizers.hopweave.context_builder import ContextBuilderSynthesizer
from llama_index.response_synthesizers.hopweave.extractive_answer import ExtractiveAnswerSynthesizer

__all__ = ["ContextBuilderSynthesizer", "ExtractiveAnswerSynthesizer"]
