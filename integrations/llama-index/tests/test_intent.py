"""The intent of a question picks the tool."""

import asyncio

import pytest
from llama_index.core.tools.types import ToolMetadata
from llama_index.selectors.hopweave import IntentSelector

from hopweave.routing.intent import IntentClassifier

TOOLS = [ToolMetadata("How things work.", name="guide"), ToolMetadata("What to do.", name="runbooks")]


def test_the_table_decides():
    selector = IntentSelector({"debugging": "runbooks"}, default="guide")
    chosen = selector.select(TOOLS, "How do I fix the crash?")
    assert (chosen.ind, chosen.reason) == (1, "debugging: 'fix' fired")
    assert chosen.intent == {"name": "debugging", "rule": "fix", "also": ["workflow", "goal_based"]}
    assert selector.select(TOOLS, "compare Skua and Plover").ind == 0
    assert asyncio.run(selector.aselect(TOOLS, "How do I fix the crash?")) == chosen


def test_tools_named_after_intents_need_no_table():
    tools = [ToolMetadata("?", name="goal_based"), ToolMetadata("?", name="comparison")]
    assert IntentSelector().select(tools, "Skua versus Plover").ind == 1
    assert IntentSelector().select(tools, "broken pump").ind == 0


def test_an_intent_of_your_own():
    from hopweave.routing.intent import IntentRule

    ferries = IntentRule(name="timetable", phrases=("when does",), profile="exact_match")
    selector = IntentSelector({"timetable": "guide"}, classifier=IntentClassifier(extra_rules=(ferries,)))
    assert selector.select(TOOLS, "When does the Skua sail?").intent["name"] == "timetable"


def test_a_tool_that_is_not_there():
    with pytest.raises(ValueError, match="there is no tool 'runbook'; there are guide, runbooks"):
        IntentSelector({"debugging": "runbook"}).select(TOOLS, "fix it")


def test_an_intent_that_is_not_there():
    with pytest.raises(ValueError, match=r"tools: there is no intent 'debuging'; there are .*debugging"):
        IntentSelector({"debuging": "runbooks"})
