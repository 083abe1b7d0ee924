"""Intent classification: which kind of answer a question asks for, decided by rules.

The first rule that matches gives the intent; the other intents that match are reported. There are two built-in tables
(`hopweave.routing.taxonomy`); `extra_rules`, in Python or YAML, are tried before them.
"""

import math
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from hopweave.component import Component
from hopweave.language.phrases import PhraseMatcher
from hopweave.query import NO_INTENT, Intent, Signal
from hopweave.routing.taxonomy import EIGHT, FINE, PROFILES, IntentRule

_TABLES: Mapping[str, tuple[tuple[IntentRule, ...], str, str]] = {
    # the rules, and the intents of a long and of a short text that no rule matches
    "eight": (EIGHT, "semantic", "goal_based"),
    "fine": (FINE, "learn", "find_tool"),
}


class IntentClassifier(Component):
    """Assigns an intent to a question: that of the first rule that matches.

    If no rule matches, a text of more than `long_words` words is `semantic` and any other has the `default` intent (in
    the fine taxonomy: `learn` and `find_tool`). With `enabled=False`, every question has the intent `NO_INTENT`.

    >>> intent = IntentClassifier().classify("How do I fix the crash?")
    >>> intent.name, intent.rule, intent.also
    ('debugging', 'fix', ('workflow', 'goal_based'))
    >>> from hopweave.routing.taxonomy import IntentRule
    >>> ferries = IntentRule(name="timetable", phrases=("when does", "ferry times"), profile="exact_match")
    >>> IntentClassifier(extra_rules=(ferries,)).classify("When does the Skua sail?").weights["text"]
    0.65
    """

    kind: Literal["intent"] = "intent"
    enabled: bool = Field(
        default=True, description="Whether questions are classified; if not, every question has no intent."
    )
    taxonomy: Literal["eight", "fine"] = Field(default="eight", description="Which of the two rule tables to use.")
    extra_rules: tuple[IntentRule, ...] = Field(
        default=(),
        description="Your own rules; they are tried first and override built-in rules of the same name.",
    )
    default: str | None = Field(default=None, description="Intent of a short text that no rule matches.")
    weights: dict[str, dict[Signal, float]] = Field(
        default_factory=dict,
        description="Weights of embedding, text, graph and intent_edges by intent, in place of those of its rule; they "
        "are scaled to sum to 1.",
    )
    long_words: int = Field(default=10, ge=0, description="A text with more words than this is long.")

    @model_validator(mode="after")
    def _names_exist(self) -> "IntentClassifier":
        known = [rule.name for rule in self._rules]
        if self.default is not None and self.default not in known:
            raise ValueError(f"default: no intent {self.default!r}; allowed are {', '.join(known)}")
        for name, weights in self.weights.items():
            if name not in known:
                raise ValueError(f"weights: no intent {name!r}; allowed are {', '.join(known)}")
            if min(weights.values(), default=0.0) < 0 or not math.fsum(weights.values()) > 0:
                raise ValueError(f"weights.{name}: must be at least 0, and one of them above 0, but got {weights}")
        for rule in self.extra_rules:
            if rule.profile is not None and rule.profile not in PROFILES:
                raise ValueError(
                    f"extra_rules.{rule.name}.profile: no intent {rule.profile!r}; allowed are {', '.join(PROFILES)}"
                )
        return self

    def classify(self, text: str) -> Intent:
        """The intent of a text, with the phrase or pattern that matched and the other intents that match."""
        if not self.enabled:
            return NO_INTENT
        matcher = PhraseMatcher(text)
        fired: dict[str, str] = {}
        for rule in self._rules:
            found = None if rule.name in fired else rule.matched(text, matcher)
            if found is not None:
                fired[rule.name] = found
        if fired:
            name, *also = fired
            return self._intent(name, fired[name], tuple(also))
        _, long_intent, short_intent = _TABLES[self.taxonomy]
        if matcher.word_count > self.long_words:
            return self._intent(long_intent, f"more than {self.long_words} words")
        return self._intent(self.default or short_intent, None)

    def weights_of(self, name: str) -> Mapping[str, float]:
        """The weights of the four signals for questions of an intent.

        >>> IntentClassifier(weights={"semantic": {"text": 3, "graph": 1}}).weights_of("semantic")
        {'text': 0.75, 'graph': 0.25}
        """
        return self._intent(name, None).weights

    @property
    def names(self) -> tuple[str, ...]:
        """The intents that `classify` can return, each once.

        >>> IntentClassifier().names[:2], IntentClassifier(enabled=False).names
        (('exact_match', 'debugging'), ('none',))
        """
        return tuple(dict.fromkeys(rule.name for rule in self._rules)) if self.enabled else (NO_INTENT.name,)

    @property
    def _rules(self) -> tuple[IntentRule, ...]:
        return (*self.extra_rules, *_TABLES[self.taxonomy][0])

    def _intent(self, name: str, fired: str | None, also: tuple[str, ...] = ()) -> Intent:
        """The first weights, keywords and edge types given by the rules of this name and their profiles, in order."""
        chain: list[IntentRule] = []
        for rule in self._rules:
            if rule.name == name:
                chain += [rule, PROFILES[rule.profile]] if rule.profile else [rule]
        ruled = next((rule.weights for rule in chain if rule.weights is not None), NO_INTENT.weights)
        weights = _scaled(self.weights[name]) if name in self.weights else ruled
        keywords = next((rule.keywords for rule in chain if rule.keywords is not None), ())
        edge_types = next((rule.edge_types for rule in chain if rule.edge_types is not None), ())
        profile = next((rule.profile for rule in chain if rule.profile), name if name in PROFILES else None)
        shares = {str(signal): share for signal, share in weights.items()}
        return Intent(name, shares, keywords, edge_types, fired, also, profile)


def _scaled(weights: Mapping[Signal, float]) -> dict[Signal, float]:
    total = math.fsum(weights.values())
    return {signal: weight / total for signal, weight in weights.items()}
