"""What kind of answer a question is after, and a branch for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.parameters import NamedParameters, written
from haystack_integrations.common.hopweave.questions import from_intent
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.routing.intent import IntentClassifier, IntentRule

_CORE = IntentClassifier()


@component
class IntentRouter(NamedParameters):
    """
    Sends a question to the output of its intent; branches of the other intents do not run.

    There is one output per intent, or per group of intents. Besides, `intent` carries all that is known of the intent
    to components that ask for it (`BM25Retriever`, `WeightedJoiner`), whether or not branches are used.

    ```python
    from haystack_integrations.components.routers.hopweave import IntentRouter

    router = IntentRouter(groups={"troubleshooting": ["debugging", "workflow"]})
    result = router.run(query="How do I fix the crash?")
    result["troubleshooting"]  # the question
    result["intent"]["name"]  # "debugging"
    ```
    """

    def __init__(
        self,
        *,
        enabled: bool = _CORE.enabled,
        taxonomy: str = _CORE.taxonomy,
        extra_rules: Sequence[IntentRule | dict[str, Any]] = _CORE.extra_rules,
        default: str | None = _CORE.default,
        weights: Mapping[str, Mapping[Any, float]] = _CORE.weights,
        long_words: int = _CORE.long_words,
        groups: Mapping[str, Sequence[str]] | None = None,
        catch_all: str | None = None,
    ) -> None:
        """
        Create the router.

        :param enabled: Whether questions are classified; if not, every question has no intent.
        :param taxonomy: Which of the two rule tables to use: eight or fine.
        :param extra_rules: Your own rules; they are tried first and override built-in rules of the same name.
            Objects, or mappings with name, phrases, weights and so on.
        :param default: Intent of a short text that no rule matches.
        :param weights: Weights of embedding, text, graph and intent_edges by intent, in place of those of its rule;
            they are scaled to sum to 1.
        :param long_words: A text with more words than this is long.
        :param groups: Names of intents by the name of the output they share; the others have one of their own.
        :param catch_all: Name of the output that all intents share which are in no group; None gives each its own.
        """
        self.classifier = IntentClassifier(
            enabled=enabled,
            taxonomy=taxonomy,
            extra_rules=extra_rules,
            default=default,
            weights=weights,
            long_words=long_words,
        )
        self.groups = {name: list(intents) for name, intents in (groups or {}).items()}
        self.catch_all = catch_all
        self._outputs = {name: catch_all or name for name in self.classifier.names}
        for group, intents in self.groups.items():
            for name in intents:
                if name not in self._outputs:
                    known = ", ".join(self.classifier.names)
                    raise ValueError(f"groups.{group}: no intent {name!r}; allowed are {known}")
                self._outputs[name] = group
        component.set_output_types(self, intent=dict[str, Any], **dict.fromkeys(self._outputs.values(), str))

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.classifier, groups=self.groups, catch_all=self.catch_all)

    def run(self, query: str) -> dict[str, Any]:
        """
        Classify a question.

        :param query: The question.
        :returns: The question under the name of its intent or group, and `intent`.
        """
        intent = self.classifier.classify(query)
        tag("intent", (), intent=intent.name)
        return {self._outputs[intent.name]: query, "intent": from_intent(intent)}
