"""Whether a message needs retrieval at all."""

from typing import Any, ClassVar

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.inputs import OVERRIDES, QUERY
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.routing.gate import Gate


@derived(Gate)
class GateRouter(CoreComponent):
    """
    Sends a message on to `retrieve`, or to `skip` if it is a greeting, small talk, a command, or a plain yes or no.

    Only one of the two outputs is given, so whatever is connected to the other does not run. Both carry the message
    without its prefixes; `reason` says why.

    ```python
    from haystack_integrations.components.routers.hopweave import GateRouter

    gate = GateRouter()
    gate.run(query="Good morning!")  # {"skip": "Good morning!", "reason": "greeting needs no retrieval"}
    gate.run(query="Who built the tide gate?")["retrieve"]
    ```
    """

    inputs = (QUERY, OVERRIDES)
    outputs: ClassVar[dict[str, Any]] = {"retrieve": str, "skip": str, "reason": str}

    def _hold(self, gate: Gate) -> None:
        """Create the gate."""
        self.gate = gate

    def _run(self, query: str, overrides: dict[str, Any] | None) -> dict[str, str]:
        """
        Judge a message.

        :returns: `retrieve` or `skip` with the message without its prefixes, and `reason`.
        """
        decision = overridden(self.gate, overrides).decide(query)
        tag("gate", (), retrieve=decision.retrieve, reason=decision.reason)
        return {"retrieve" if decision.retrieve else "skip": decision.text, "reason": decision.reason}
