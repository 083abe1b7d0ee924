"""Regular expressions in rules: hopweave's own on `re`, a user's with a time limit."""

import re
import sys

import pytest
from pydantic import ValidationError

from hopweave.errors import HopweaveError
from hopweave.routing import pattern
from hopweave.routing.gate import PREFIXES, Gate, GateRule, gate_rules
from hopweave.routing.intent import IntentClassifier, IntentRule, intent_rules

SLOW = "(?:a|a)+[bc]"
MESSAGE = "a" * 60


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(pattern, "MAX_SECONDS", 0.02)


def test_a_pattern_of_ones_own_that_takes_too_long_is_an_error_that_names_it():
    with pytest.raises(HopweaveError, match=r"the pattern .* takes more than 0.02 s on this message"):
        pattern.found(SLOW, MESSAGE)
    rule = GateRule(name="slow", action="skip", patterns=(SLOW,))
    with pytest.raises(HopweaveError, match="takes more than"):
        Gate(extra_rules=(rule,)).decide(MESSAGE)
    with pytest.raises(HopweaveError, match="takes more than"):
        Gate(prefixes=(SLOW,)).decide(MESSAGE)
    with pytest.raises(HopweaveError, match="takes more than"):
        IntentClassifier(extra_rules=(IntentRule(name="slow", patterns=(SLOW,)),)).classify(MESSAGE)


def test_without_the_package_a_pattern_of_ones_own_is_refused_and_phrases_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(ValidationError, match=r"pip install 'hopweave\[regex\]', or use phrases"):
        GateRule(name="mine", action="skip", patterns=("a gr[ae]y ship",))
    assert GateRule(name="mine", action="skip", phrases=("grey",)).fires("a grey ship")
    assert not Gate().decide("Good morning!").retrieve
    assert IntentClassifier().classify("camelCase").name == "exact_match"


def test_patterns_of_hopweave_itself_are_marked_as_such():
    rules = [*gate_rules(), *intent_rules("eight").values(), *intent_rules("fine").values()]
    assert {one for rule in rules for one in rule.patterns} | set(PREFIXES) == pattern._shipped


@pytest.mark.parametrize(
    ("expression", "text", "flags", "there"),
    [
        ("gr[ae]y", "a grey ship", 0, True),
        ("GR[ae]Y", "a grey ship", 0, False),
        ("GR[ae]Y", "a grey ship", re.IGNORECASE, True),
        (r"^\w+$", "Łódź", 0, True),
        (r"\bcrew\b", "the screws", 0, False),
    ],
)
def test_patterns_of_ones_own_mean_what_they_mean_in_re(expression, text, flags, there):
    assert pattern.found(expression, text, flags) is there
    assert (re.search(expression, text, flags) is not None) is there
