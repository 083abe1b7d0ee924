"""What a question is after decides where it goes."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.bridge.pydantic import Field
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata

from hopweave.query import Intent
from hopweave.routing.intent import IntentClassifier


class IntentSelection(SelectorResult):
    """A selection that remembers the intent: its name, the rule that fired and the other intents that matched."""

    intent: dict[str, Any] = Field(default_factory=dict)


class IntentSelector(BaseSelector):
    """
    Picks a tool by the intent of the question: by rules, without a language model, in well under a millisecond.

    Args:
        tools: Name of the tool by intent. An intent that is not listed goes to the tool of its own name.
        default: Name of the tool for everything else; the first one when not given.
        classifier: Finds the intent; the usual one when not given.

    Examples:
        ```python
        from llama_index.core.llms import MockLLM
        from llama_index.core.query_engine import RouterQueryEngine
        from llama_index.core.tools import QueryEngineTool
        from llama_index.selectors.hopweave import IntentSelector

        tools = [
            QueryEngineTool.from_defaults(index.as_query_engine(), name="guide", description="How things work."),
            QueryEngineTool.from_defaults(index.as_query_engine(), name="runbooks", description="What to do."),
        ]
        engine = RouterQueryEngine(IntentSelector({"debugging": "runbooks"}), tools, llm=MockLLM())
        engine.query("How do I fix the crash?").metadata["selector_result"].ind  # 1
        ```

    """

    def __init__(
        self,
        tools: Mapping[str, str] | None = None,
        *,
        default: str | None = None,
        classifier: IntentClassifier | None = None,
    ) -> None:
        """Keep the table and the classifier."""
        self._tools = dict(tools or {})
        self._default = default
        self._classifier = IntentClassifier() if classifier is None else classifier
        known = self._classifier.names
        if unknown := [name for name in self._tools if name not in known]:
            raise ValueError(f"tools: there is no intent {unknown[0]!r}; there are {', '.join(known)}")

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        intent = self._classifier.classify(query.query_str)
        names = [choice.name for choice in choices]
        if unknown := [name for name in (*self._tools.values(), self._default) if name and name not in names]:
            raise ValueError(f"there is no tool {unknown[0]!r}; there are {', '.join(map(str, names))}")
        wanted = self._tools.get(intent.name, intent.name)
        place = names.index(wanted) if wanted in names else names.index(self._default) if self._default else 0
        return IntentSelection(
            selections=[SingleSelection(index=place, reason=_reason(intent))],
            intent={"name": intent.name, "rule": intent.rule, "also": list(intent.also)},
        )

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""


def _reason(intent: Intent) -> str:
    return f"{intent.name}: {intent.rule!r} fired" if intent.rule else f"{intent.name}: no rule fired"
