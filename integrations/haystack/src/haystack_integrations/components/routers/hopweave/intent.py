"""What kind of answer a question is after, and a branch for each."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.inputs import QUERY
from haystack_integrations.common.hopweave.questions import from_intent
from haystack_integrations.common.hopweave.settings import Setting
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.routing.intent import IntentClassifier


@derived(IntentClassifier)
class IntentRouter(CoreComponent):
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

    inputs = (QUERY,)

    settings = (
        Setting(
            "groups",
            Mapping[str, Sequence[str]] | None,
            "Names of intents by the name of the output they share; the others have one of their own.",
            None,
            kept=lambda groups: {name: list(intents) for name, intents in (groups or {}).items()},
        ),
        Setting(
            "catch_all",
            str | None,
            "Name of the output that all intents share which are in no group; None gives each its own.",
            None,
        ),
    )

    groups: dict[str, list[str]]
    catch_all: str | None

    def _hold(self, classifier: IntentClassifier) -> None:
        """Create the router."""
        self.classifier = classifier
        self._outputs = {name: self.catch_all or name for name in classifier.names}
        for group, intents in self.groups.items():
            for name in intents:
                if name not in self._outputs:
                    known = ", ".join(classifier.names)
                    raise ValueError(f"groups.{group}: no intent {name!r}; allowed are {known}")
                self._outputs[name] = group
        component.set_output_types(self, intent=dict[str, Any], **dict.fromkeys(self._outputs.values(), str))

    def _run(self, query: str) -> dict[str, Any]:
        """
        Classify a question.

        :returns: The question under the name of its intent or group, and `intent`.
        """
        intent = self.classifier.classify(query)
        tag("intent", (), intent=intent.name)
        return {self._outputs[intent.name]: query, "intent": from_intent(intent)}
