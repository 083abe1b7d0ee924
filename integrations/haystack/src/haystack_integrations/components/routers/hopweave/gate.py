"""Whether a message needs retrieval at all."""

from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.parameters import accept_overrides, split, written
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.routing.gate import Gate
from hopweave.routing.gate_rules import GateRule

_CORE = Gate()


@component
class RetrievalGate:
    """
    Sends a message on to `retrieve`, or to `skip` if it is a greeting, a command, a plain yes or no or very short.

    Only one of the two outputs is given, so whatever is connected to the other does not run. Both carry the message
    without its prefixes; `reason` says why.

    ```python
    from haystack_integrations.components.routers.hopweave import RetrievalGate

    gate = RetrievalGate()
    gate.run(query="Good morning!")  # {"skip": "Good morning!", "reason": "greeting needs no retrieval"}
    gate.run(query="Who built the tide gate?")["retrieve"]
    ```
    """

    def __init__(
        self,
        *,
        enabled: bool = _CORE.enabled,
        languages: Sequence[str] = _CORE.languages,
        extra_rules: Sequence[GateRule | dict[str, Any]] = _CORE.extra_rules,
        min_characters: int = _CORE.min_characters,
        min_cjk_characters: int = _CORE.min_cjk_characters,
        prefixes: Sequence[str] = _CORE.prefixes,
    ) -> None:
        """
        Create the gate.

        :param enabled: Whether messages are judged at all.
        :param languages: Whose rules are used, besides those of no language.
        :param extra_rules: Your own rules, as objects or mappings with name, action, language and phrases; they are
            tried first.
        :param min_characters: Shorter messages that are not questions are skipped.
        :param min_cjk_characters: The same for messages with Chinese, Japanese or Korean.
        :param prefixes: Regular expressions for what to take off the front.
        """
        self.gate = Gate(
            enabled=enabled,
            languages=languages,
            extra_rules=extra_rules,
            min_characters=min_characters,
            min_cjk_characters=min_cjk_characters,
            prefixes=prefixes,
        )
        accept_overrides(self, Gate)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.gate)

    @component.output_types(retrieve=str, skip=str, reason=str)
    def run(self, query: str, **parameters: Any) -> dict[str, str]:
        """
        Judge a message.

        :param query: The message.
        :param parameters: Other values for parameters of the constructor, for this run.
        :returns: `retrieve` or `skip` with the message without its prefixes, and `reason`.
        """
        decision = self.gate.changed(**split(parameters)[1]).decide(query)
        tag("gate", (), retrieve=decision.retrieve, reason=decision.reason)
        return {"retrieve" if decision.retrieve else "skip": decision.text, "reason": decision.reason}
