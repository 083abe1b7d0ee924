import json
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from hopweave.hit import Hit
from hopweave.query import NO_INTENT, Intent, Plan, Query

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def test_the_clock_is_now_in_utc_unless_given():
    before = datetime.now(UTC)
    now = Query("?").now
    assert before <= now <= datetime.now(UTC)


def test_a_naive_time_is_utc_and_an_aware_one_stays():
    assert Query("?", now=NOON.replace(tzinfo=None)).now == NOON
    elsewhere = NOON.astimezone(timezone(timedelta(hours=9)))
    assert Query("?", now=elsewhere).now is elsewhere


def test_understood_gives_a_new_question_and_keeps_what_is_not_given():
    query = Query("?", now=NOON, filters={"a": 1}, tenant={"b": 2})
    intent, plan = Intent("debugging"), Plan(("text",))
    understood = query.understood(intent=intent).understood(plan=plan)
    assert (query.intent, query.plan) == (None, None)
    assert (understood.intent, understood.plan) == (intent, plan)
    assert (understood.text, understood.now, understood.filters, understood.tenant) == (
        "?",
        NOON,
        {"a": 1},
        {"b": 2},
    )


def test_questions_compare_by_content_even_with_vectors():
    one = Query("?", np.array([1, 2], np.float32), NOON)
    assert one == Query("?", np.array([1, 2], np.float32), NOON)
    assert one != Query("?", np.array([1, 3], np.float32), NOON)
    assert one != Query("?", None, NOON)
    assert one != Query("!", np.array([1, 2], np.float32), NOON)
    assert one != "?"
    assert len({one, Query("?", np.array([1, 2], np.float32), NOON)}) == 1


def test_a_question_cannot_be_changed():
    with pytest.raises(AttributeError):
        Query("?").text = "!"


def test_admits_follows_the_filters():
    ship, place = Hit("a", metadata={"type": "ship"}), Hit("b", metadata={"type": "place"})
    assert [hit.id for hit in filter(Query("?", filters={"type": "ship"}).admits(), [ship, place])] == ["a"]
    assert [hit.id for hit in filter(Query("?").admits(), [ship, place])] == ["a", "b"]


def test_the_shares_without_intents_sum_to_one():
    assert sum(NO_INTENT.weights.values()) == pytest.approx(0.40 + 0.45 + 0.15 + 0.0)
    assert sum(NO_INTENT.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [
        (Plan, "x", "plan: must be a mapping with sources, .*, but got 'x'"),
        (Plan, {"complexity": "simple"}, "plan.sources: required, but missing"),
        (Plan, {"sources": ["graph"], "prune": True}, "plan: unknown key 'prune'; allowed are sources, complexity, "),
        (Plan, {"sources": "graph"}, "plan.sources: must be a list of names, but got 'graph'"),
        (Plan, {"sources": [1]}, r"plan.sources: must be a list of names, but got \[1\]"),
        (Plan, {"sources": [], "prune_paths": "no"}, "plan.prune_paths: must be true or false, but got 'no'"),
        (Plan, {"sources": [], "top_k": 0}, "plan.top_k: must be a whole number of at least 1, but got 0"),
        (Intent, "x", "intent: must be a mapping with name, .*, but got 'x'"),
        (Intent, {"weights": {}}, "intent.name: required, but missing"),
    ],
)
def test_plain_data_that_is_no_plan_or_intent_is_an_error_that_says_why(kind, data, message):
    with pytest.raises(ValueError, match=message):
        kind.of(data)


@pytest.mark.parametrize("made", [Plan(("text",), "complex", 0.5, 3, True, "why"), NO_INTENT])
def test_plans_and_intents_come_back_from_plain_data(made):
    plain = json.loads(json.dumps(asdict(made)))
    assert type(made).of(plain) == made
