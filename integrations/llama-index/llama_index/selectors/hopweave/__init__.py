"""hopweave's selectors for LlamaIndex routers."""

from llama_index.selectors.hopweave.intent import IntentSelection, IntentSelector
from llama_index.selectors.hopweave.plan import PlanSelection, PlanSelector

__all__ = ["IntentSelection", "IntentSelector", "PlanSelection", "PlanSelector"]
