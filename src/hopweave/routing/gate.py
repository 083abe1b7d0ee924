"""Whether a message needs retrieval at all. The built-in rules are in `gate.yaml`."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopweave.component import Component
from hopweave.concurrency.once import once
from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.routing.pattern import Pattern, end_of, found, listed, shipped, shipped_rules

PREFIXES: tuple[str, ...] = shipped(
    r"\[cron:[^\]]*+\]\s*+",
    # a header and the block of data that may follow it
    r"[A-Z][A-Za-z ]{0,40}\(untrusted metadata\):\s*+(?:```[\s\S]*?```\s*+|\{[^{}]*+\}\s*+)?",
)
"""Patterns removed from the start of a message, repeatedly, before the rules are applied."""


class GateRule(BaseModel):
    """A pattern of messages and the action for them: `skip` retrieval, `force` it, or count as a `question`.

    `phrases` (see `hopweave.language.phrases`) cover most cases; `patterns` are regular expressions for the others.

    >>> GateRule(name="thanks", action="skip", phrases=("^merci$",), language="fr").fires("Merci !")
    True
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, description="Name of the rule, as it appears in the decision.")
    action: Literal["skip", "force", "question"] = Field(description="What to do when the rule matches.")
    language: str | None = Field(
        default=None, description="The rule applies if the gate has this language; None: always."
    )
    phrases: tuple[Phrase, ...] = Field(
        default=(), description="Words and phrases; the rule matches if the text contains any of them."
    )
    patterns: tuple[Pattern, ...] = Field(
        default=(), description="Regular expressions; the rule matches if any of them is found."
    )
    max_words: int | None = Field(default=None, ge=1, description="The rule never matches longer messages.")
    unless_question: bool = Field(default=False, description="Whether the rule never matches questions.")

    def fires(self, text: str, matcher: PhraseMatcher | None = None) -> bool:
        """Return whether the rule matches this text; the gate applies `unless_question`."""
        matcher = matcher or PhraseMatcher(text)
        if self.max_words is not None and matcher.word_count > self.max_words:
            return False
        if matcher.first_match(self.phrases) is not None:
            return True
        return any(found(pattern, text) for pattern in self.patterns)


@once()
def gate_rules() -> tuple[GateRule, ...]:
    """The built-in rules, in the order in which they are tried within each action.

    >>> gate_rules()[0].name, gate_rules()[0].action
    ('memory', 'force')
    """
    places = {"whole": "^{}$", "opening": "^{}", "anywhere": "{}"}
    return tuple(
        GateRule(
            **{name: value for name, value in rule.items() if name not in places},
            phrases=tuple(
                form.format(phrase) for place, form in places.items() for phrase in listed(rule.get(place, ""))
            ),
        )
        for rule in shipped_rules("gate.yaml")
    )


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether to retrieve, the rule that matched (None if none did), the reason, and the text without prefixes."""

    retrieve: bool
    rule: str | None
    reason: str
    text: str


class Gate(Component):
    """Skips retrieval for greetings, small talk, commands, plain yes and no, and emoji.

    Rules that force retrieval take precedence over rules that skip it. A message that no rule matches is skipped only
    if it is a single character: "error 4711" and "kubernetes" are searches. In a chat where short messages seldom are,
    raise `min_characters`. With `enabled=False`, every message is retrieved for.

    >>> Gate().decide("Good morning!")
    GateDecision(retrieve=False, rule='greeting', reason='greeting needs no retrieval', text='Good morning!')
    >>> Gate().decide("[cron:daily] /remember my name").retrieve
    True
    >>> german = GateRule(name="greeting", action="skip", language="de", phrases=("^guten morgen$",))
    >>> Gate(languages=("en", "de"), extra_rules=(german,)).decide("Guten Morgen!").retrieve
    False
    """

    kind: Literal["gate"] = "gate"
    enabled: bool = Field(
        default=True, description="Whether the gate is active; if not, every message is retrieved for."
    )
    languages: tuple[str, ...] = Field(
        default=("en", "cjk"), description="Languages whose rules apply, in addition to rules without a language."
    )
    extra_rules: tuple[GateRule, ...] = Field(
        default=(), description="Your own rules; they are tried before the built-in ones."
    )
    min_characters: int = Field(default=2, ge=0, description="Shorter messages that are not questions are skipped.")
    min_cjk_characters: int = Field(
        default=2, ge=0, description="The same limit for messages with Chinese, Japanese or Korean characters."
    )
    prefixes: tuple[Pattern, ...] = Field(
        default=PREFIXES, description="Regular expressions for what to remove from the start of a message."
    )

    def decide(self, text: str) -> GateDecision:
        """Say whether a message needs retrieval, and why."""
        text = self._stripped(text)
        if not self.enabled:
            return GateDecision(True, None, "the gate is switched off", text)
        matcher = PhraseMatcher(text)
        if forced := self._first("force", text, matcher):
            return GateDecision(True, forced.name, f"{forced.name} calls for retrieval", text)
        question = self._first("question", text, matcher) is not None
        if skipped := self._first("skip", text, matcher, question):
            return GateDecision(False, skipped.name, f"{skipped.name} needs no retrieval", text)
        min_length = self.min_cjk_characters if matcher.has_cjk else self.min_characters
        if len(text) < min_length and not question:
            return GateDecision(False, "short", f"under {min_length} characters and not a question", text)
        return GateDecision(True, None, "no rule applies", text)

    def _stripped(self, text: str) -> str:
        start, end = 0, -1
        text = text.strip()
        while start > end:
            end = start
            for prefix in self.prefixes:
                # by position, not by cutting: thousands of prefixes must not mean thousands of copies
                start = end_of(prefix, text, start)
        return text[start:].strip()

    def _first(self, action: str, text: str, matcher: PhraseMatcher, question: bool = False) -> GateRule | None:
        return next(
            (
                rule
                for rule in (*self.extra_rules, *gate_rules())
                if rule.action == action
                and (rule.language is None or rule.language in self.languages)
                and not (question and rule.unless_question)
                and rule.fires(text, matcher)
            ),
            None,
        )
