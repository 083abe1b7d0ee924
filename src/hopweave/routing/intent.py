"""What kind of answer a question is after, by rules that are data.

The first rule that fires decides; the others that would have fired are reported. Two tables are shipped
(`hopweave.routing.taxonomy`), and a user adds rules of their own in front of either, in Python or YAML.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, model_validator

from hopweave.component import Component
from hopweave.phrases import Words
from hopweave.query import NO_INTENT, Intent
from hopweave.routing.taxonomy import EIGHT, FINE, PROFILES, IntentRule

_TABLES: Mapping[str, tuple[tuple[IntentRule, ...], str, str]] = {
    # the rules, the intent of a long text that no rule fires on, and that of a short one
    "eight": (EIGHT, "semantic", "goal_based"),
    "fine": (FINE, "learn", "find_tool"),
}


class IntentClassifier(Component):
    """Finds out what a question is after: the first rule that fires wins.

    If none fires, a text of more than `long_words` words is `semantic` and any other has the `default` intent (in
    the fine taxonomy: `learn` and `find_tool`). Switched off, every question has the plain profile of `NO_INTENT`.

    >>> intent = IntentClassifier().classify("How do I fix the crash?")
    >>> intent.name, intent.rule, intent.also
    ('debugging', 'fix', ('workflow', 'goal_based'))
    >>> from hopweave.routing.taxonomy import IntentRule
    >>> ferries = IntentRule(name="timetable", phrases=("when does", "ferry times"), profile="exact_match")
    >>> IntentClassifier(extra_rules=(ferries,)).classify("When does the Skua sail?").weights["text"]
    0.65
    """

    kind: Literal["intent"] = "intent"
    enabled: bool = Field(True, description="Whether intents are used at all.")
    taxonomy: Literal["eight", "fine"] = Field("eight", description="Which of the two rule tables to use.")
    extra_rules: tuple[IntentRule, ...] = Field(
        (),
        description="Your own rules; they are tried first, and what they give wins over a shipped rule of that name.",
    )
    default: str | None = Field(None, description="Intent of a short text on which no rule fires.")
    long_words: int = Field(10, ge=0, description="A text with more words than this is long.")

    @model_validator(mode="after")
    def _names_exist(self) -> "IntentClassifier":
        known = [rule.name for rule in self._rules]
        if self.default is not None and self.default not in known:
            raise ValueError(f"default: no intent {self.default!r}; allowed are {', '.join(known)}")
        for rule in self.extra_rules:
            if rule.profile is not None and rule.profile not in PROFILES:
                raise ValueError(
                    f"extra_rules.{rule.name}.profile: no intent {rule.profile!r}; allowed are {', '.join(PROFILES)}"
                )
        return self

    def classify(self, text: str) -> Intent:
        """The intent of a text, with the rule that fired and the other intents that matched."""
        if not self.enabled:
            return NO_INTENT
        words = Words(text)
        fired: dict[str, str] = {}
        for rule in self._rules:
            found = None if rule.name in fired else rule.matched(text, words)
            if found is not None:
                fired[rule.name] = found
        if fired:
            name, *also = fired
            return self._intent(name, fired[name], tuple(also))
        _, long_intent, short_intent = _TABLES[self.taxonomy]
        if words.count > self.long_words:
            return self._intent(long_intent, f"more than {self.long_words} words")
        return self._intent(self.default or short_intent, None)

    @property
    def names(self) -> tuple[str, ...]:
        """Every intent that a text can turn out to have, each once.

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
        weights = next((rule.weights for rule in chain if rule.weights is not None), NO_INTENT.weights)
        keywords = next((rule.keywords for rule in chain if rule.keywords is not None), ())
        edge_types = next((rule.edge_types for rule in chain if rule.edge_types is not None), ())
        return Intent(
            name, {str(signal): share for signal, share in weights.items()}, keywords, edge_types, fired, also
        )
