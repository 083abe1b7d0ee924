"""Whether a message needs retrieval at all."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hopweave.component import Component
from hopweave.phrases import Words
from hopweave.routing.gate_rules import GATE_RULES, GateRule
from hopweave.routing.pattern import Pattern, compiled

PREFIXES: tuple[str, ...] = (
    r"\[cron:[^\]]*+\]\s*+",
    # a header, and the block of data that may follow it
    r"[A-Z][A-Za-z ]{0,40}\(untrusted metadata\):\s*+(?:```[\s\S]*?```\s*+|\{[^{}]*+\}\s*+)?",
)
"""What is taken off the front of a message, again and again, before it is judged."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Whether to retrieve, the rule that decided (None if none did), why, and the text without its prefixes."""

    retrieve: bool
    rule: str | None
    reason: str
    text: str


class Gate(Component):
    """Skips retrieval for greetings, commands, plain yes and no, emoji and very short messages.

    Rules that force retrieval win over rules that skip it. A message on which none fires is skipped only if it is
    very short and not a question. Switched off, everything is retrieved.

    >>> Gate().decide("Good morning!")
    GateDecision(retrieve=False, rule='greeting', reason='greeting needs no retrieval', text='Good morning!')
    >>> Gate().decide("[cron:daily] /remember my name").retrieve
    True
    >>> from hopweave.routing.gate_rules import GateRule
    >>> german = GateRule(name="greeting", action="skip", language="de", phrases=("^guten morgen$",))
    >>> Gate(languages=("en", "de"), extra_rules=(german,)).decide("Guten Morgen!").retrieve
    False
    """

    kind: Literal["gate"] = "gate"
    enabled: bool = Field(True, description="Whether messages are judged at all.")
    languages: tuple[str, ...] = Field(("en", "cjk"), description="Whose rules are used, besides those of no language.")
    extra_rules: tuple[GateRule, ...] = Field((), description="Your own rules; they are tried first.")
    min_characters: int = Field(15, ge=0, description="Shorter messages that are not questions are skipped.")
    min_cjk_characters: int = Field(6, ge=0, description="The same for messages with Chinese, Japanese or Korean.")
    prefixes: tuple[Pattern, ...] = Field(PREFIXES, description="Regular expressions for what to take off the front.")

    def decide(self, text: str) -> GateDecision:
        """Say whether a message needs retrieval, and why."""
        text = self._stripped(text)
        if not self.enabled:
            return GateDecision(True, None, "the gate is switched off", text)
        words = Words(text)
        if forced := self._first("force", text, words):
            return GateDecision(True, forced.name, f"{forced.name} calls for retrieval", text)
        question = self._first("question", text, words) is not None
        if skipped := self._first("skip", text, words, question):
            return GateDecision(False, skipped.name, f"{skipped.name} needs no retrieval", text)
        shortest = self.min_cjk_characters if words.has_cjk else self.min_characters
        if len(text) < shortest and not question:
            return GateDecision(False, "short", f"under {shortest} characters and not a question", text)
        return GateDecision(True, None, "nothing speaks against retrieval", text)

    def _stripped(self, text: str) -> str:
        start, end = 0, -1
        text = text.strip()
        while start > end:
            end = start
            for prefix in self.prefixes:
                # by position, not by cutting: thousands of prefixes must not mean thousands of copies
                found = compiled(prefix).match(text, start)
                start = found.end() if found else start
        return text[start:].strip()

    def _first(self, action: str, text: str, words: Words, question: bool = False) -> GateRule | None:
        return next(
            (
                rule
                for rule in (*self.extra_rules, *GATE_RULES)
                if rule.action == action
                and (rule.language is None or rule.language in self.languages)
                and not (question and rule.unless_question)
                and rule.fires(text, words)
            ),
            None,
        )
