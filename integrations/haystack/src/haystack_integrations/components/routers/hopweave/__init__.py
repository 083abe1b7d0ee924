"""hopweave's routers for Haystack: what a question needs, and which branches run for it."""

from haystack_integrations.components.routers.hopweave.gate import GateRouter
from haystack_integrations.components.routers.hopweave.intent import IntentRouter
from haystack_integrations.components.routers.hopweave.limits import LimitsRouter
from haystack_integrations.components.routers.hopweave.plan import PlanRouter
from haystack_integrations.components.routers.hopweave.upstream import UpstreamRouter

__all__ = [
    "GateRouter",
    "IntentRouter",
    "LimitsRouter",
    "PlanRouter",
    "UpstreamRouter",
]
