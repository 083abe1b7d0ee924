"""Whether a message needs retrieval at all."""

from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.routing.gate import Gate, GateRule

_CORE = Gate()


@component
class GateRouter(NamedParameters):
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

        :param enabled: Whether the gate is active; if not, every message is retrieved for.
        :param languages: Languages whose rules apply, in addition to rules without a language.
        :param extra_rules: Your own rules; they are tried before the built-in ones. Objects, or mappings
            with name, action, language and phrases.
        :param min_characters: Shorter messages that are not questions are skipped.
        :param min_cjk_characters: The same limit for messages with Chinese, Japanese or Korean characters.
        :param prefixes: Regular expressions for what to remove from the start of a message.
        """
        self.gate = Gate(
            enabled=enabled,
            languages=languages,
            extra_rules=extra_rules,
            min_characters=min_characters,
            min_cjk_characters=min_cjk_characters,
            prefixes=prefixes,
        )

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.gate)

    @component.output_types(retrieve=str, skip=str, reason=str)
    def run(self, query: str, overrides: dict[str, Any] | None = None) -> dict[str, str]:
        """
        Judge a message.

        :param query: The message.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `retrieve` or `skip` with the message without its prefixes, and `reason`.
        """
        decision = overridden(self.gate, overrides).decide(query)
        tag("gate", (), retrieve=decision.retrieve, reason=decision.reason)
        return {"retrieve" if decision.retrieve else "skip": decision.text, "reason": decision.reason}
