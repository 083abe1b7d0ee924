"""Intent classification: which kind of answer a question asks for, decided by rules.

The first rule that matches gives the intent; the other intents that match are reported. There are two built-in
taxonomies (`intents.yaml`); `extra_rules`, in Python or YAML, are tried before them.
"""

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hopweave.component import Component
from hopweave.concurrency.once import once
from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.query import NO_INTENT, Intent, Signal
from hopweave.routing.pattern import Pattern, found, listed, shipped_rules


def _check_weights(weights: Mapping[Signal, float] | None) -> Mapping[Signal, float] | None:
    if weights is not None:
        if any(not 0 <= weight <= 1 for weight in weights.values()):
            raise ValueError("each weight must be in [0, 1]")
        if not math.isclose(total := math.fsum(weights.values()), 1, abs_tol=1e-6):
            raise ValueError(f"weights must sum to 1, but sum to {total:g}")
    return weights


class IntentRule(BaseModel):
    """One intent: how to recognise it, and how it changes retrieval.

    `phrases` (see `hopweave.language.phrases`) cover most cases; `patterns` are regular expressions, searched in the
    whole text, so a pattern meant for short texts should have `max_characters` as well. Fields that are None come from
    the intent named in `profile`, else from a built-in intent of the same name.

    >>> IntentRule(name="price", phrases=("how much", "price*"), profile="exact_match").matched("What's the price?")
    'price*'
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the intent.")
    phrases: tuple[Phrase, ...] = Field(
        default=(), description="Words and phrases; the rule matches if the text contains any of them."
    )
    patterns: tuple[Pattern, ...] = Field(
        default=(), description="Regular expressions; the rule matches if any of them is found."
    )
    case_sensitive: bool = Field(default=False, description="Whether patterns distinguish upper and lower case.")
    max_characters: int | None = Field(default=None, ge=1, description="The patterns are not applied to longer texts.")
    weights: Annotated[dict[Signal, float] | None, AfterValidator(_check_weights)] = Field(
        default=None, description="Shares of embedding, text, graph and intent_edges; they sum to 1."
    )
    keywords: tuple[str, ...] | None = Field(default=None, description="Stems that get a higher weight in BM25.")
    edge_types: tuple[str, ...] | None = Field(default=None, description="Types of graph edges to follow.")
    profile: str | None = Field(
        default=None, description="One of the eight intents; it supplies the fields that are not given here."
    )

    def matched(self, text: str, matcher: PhraseMatcher | None = None) -> str | None:
        """The first phrase or pattern that matches this text, or None."""
        text = text.strip()
        if self.max_characters is None or len(text) <= self.max_characters:
            flags = 0 if self.case_sensitive else re.IGNORECASE
            for pattern in self.patterns:
                if found(pattern, text, flags):
                    return pattern
        return (matcher or PhraseMatcher(text)).first_match(self.phrases) if self.phrases else None


Taxonomy = Literal["eight", "fine"]

_UNMATCHED: Mapping[Taxonomy, tuple[str, str]] = {"eight": ("semantic", "goal_based"), "fine": ("learn", "find_tool")}
"""The intents of a long and of a short text that no rule matches."""


@once()
def intent_rules(taxonomy: Taxonomy) -> Mapping[str, IntentRule]:
    """The built-in rules of a taxonomy by name, in the order in which they are tried.

    >>> list(intent_rules("eight"))[:2], intent_rules("fine")["debug"].profile
    (['exact_match', 'debugging'], 'debugging')
    """
    rules = shipped_rules("intents.yaml")
    profiles = {rule["name"]: rule for rule in rules["eight"]}
    return {rule["name"]: _intent_rule(rule, profiles.get(rule.get("profile"), {})) for rule in rules[taxonomy]}


def _intent_rule(rule: Mapping[str, Any], profile: Mapping[str, Any]) -> IntentRule:
    """A rule; without phrases of its own it has those of its profile."""
    keywords = {"keywords": listed(rule["keywords"])} if "keywords" in rule else {}
    phrases = listed(rule.get("phrases", profile.get("phrases", "")))
    return IntentRule(**{**rule, **keywords, "phrases": phrases})


class IntentClassifier(Component):
    """Assigns an intent to a question: that of the first rule that matches.

    If no rule matches, a text of more than `long_words` words is `semantic` and any other has the `default` intent (in
    the fine taxonomy: `learn` and `find_tool`). With `enabled=False`, every question has the intent `NO_INTENT`.

    >>> intent = IntentClassifier().classify("How do I fix the crash?")
    >>> intent.name, intent.rule, intent.also
    ('debugging', 'fix', ('workflow', 'goal_based'))
    >>> ferries = IntentRule(name="timetable", phrases=("when does", "ferry times"), profile="exact_match")
    >>> IntentClassifier(extra_rules=(ferries,)).classify("When does the Skua sail?").weights["text"]
    0.65
    """

    kind: Literal["intent"] = "intent"
    enabled: bool = Field(
        default=True, description="Whether questions are classified; if not, every question has no intent."
    )
    taxonomy: Taxonomy = Field(default="eight", description="Which of the two rule tables to use.")
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
        profiles = intent_rules("eight")
        for rule in self.extra_rules:
            if rule.profile is not None and rule.profile not in profiles:
                raise ValueError(
                    f"extra_rules.{rule.name}.profile: no intent {rule.profile!r}; allowed are {', '.join(profiles)}"
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
        long_intent, short_intent = _UNMATCHED[self.taxonomy]
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
        return (*self.extra_rules, *intent_rules(self.taxonomy).values())

    def _intent(self, name: str, fired: str | None, also: tuple[str, ...] = ()) -> Intent:
        """The first weights, keywords and edge types given by the rules of this name and their profiles, in order."""
        profiles = intent_rules("eight")
        chain: list[IntentRule] = []
        for rule in self._rules:
            if rule.name == name:
                chain += [rule, profiles[rule.profile]] if rule.profile else [rule]
        ruled = next((rule.weights for rule in chain if rule.weights is not None), NO_INTENT.weights)
        weights = _scaled(self.weights[name]) if name in self.weights else ruled
        keywords = next((rule.keywords for rule in chain if rule.keywords is not None), ())
        edge_types = next((rule.edge_types for rule in chain if rule.edge_types is not None), ())
        profile = next((rule.profile for rule in chain if rule.profile), name if name in profiles else None)
        shares = {str(signal): share for signal, share in weights.items()}
        return Intent(name, shares, keywords, edge_types, fired, also, profile)


def _scaled(weights: Mapping[Signal, float]) -> dict[Signal, float]:
    total = math.fsum(weights.values())
    return {signal: weight / total for signal, weight in weights.items()}
