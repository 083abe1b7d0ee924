"""hopweave's routers for Haystack: what a question needs, and which branches run for it."""

from haystack_integrations.components.routers.hopweave.gate import RetrievalGate
from haystack_integrations.components.routers.hopweave.intent import IntentRouter
from haystack_integrations.components.routers.hopweave.plan import RetrievalPlanner

__all__ = ["IntentRouter", "RetrievalGate", "RetrievalPlanner"]
