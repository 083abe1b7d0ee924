"""hopweave's selectors for LlamaIndex routers."""

from llama_index.selectors.hopweave.intent import IntentSelection, IntentSelector

__all__ = ["IntentSelection", "IntentSelector"]
