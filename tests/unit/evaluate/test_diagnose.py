import json

import pytest

from hopweave.errors import RecipeError
from hopweave.evaluate.diagnose import diagnose

from .conftest import judged


def test_failures_are_counted_by_reason(fixed, letters):
    recipe = fixed(text={"good": "ab", "low": "xya", "none": "x"})
    found = diagnose(letters, recipe, judged(good="a", low="a", none=["a", "lost"]), top_k=2)
    assert [failure.query.id for failure in found.failures] == ["low", "none"]
    assert found.reasons == {"not_stored": 1, "ranked_low": 1, "not_found": 1}
    assert str(found).splitlines()[0] == "fixed: 2 of 3 questions lack relevant documents in the first 2 hits"
    assert str(found.failures[0]) == "low  low\n    'a': found, but ranked low; 3rd after fusion, text 3rd"


def test_the_fate_of_each_signal(fixed, letters):
    # text alone finds a, vector finds b, echo says what text says
    recipe = fixed(text={"one": "ax"}, vector={"one": "by"}, echo={"one": "ax"})
    found = diagnose(letters, recipe, judged(one="ab"), top_k=3)
    assert found.failures == ()
    assert {one.name: one.adds for one in found.signals.sources} == {"text": 0.0, "vector": 0.5, "echo": 0.0}
    assert found.signals.redundant == ("echo", "text")
    assert "Recall is no worse without: echo, text." in str(found)


def test_every_source_needed(fixed, letters):
    found = diagnose(letters, fixed(text={"one": "a"}, vector={"one": "b"}), judged(one="ab"), top_k=3)
    assert "Every source adds to recall." in str(found)


def test_a_single_source_has_no_signals_to_compare(fixed, letters):
    found = diagnose(letters, fixed(text={"one": "a"}), judged(one="a"))
    assert found.signals is None
    assert found.as_dict()["signals"] is None


def test_classes_count_once_in_signals_too(fixed, letters):
    recipe = fixed(text={"one": "bax"}, vector={"one": "y"})
    found = diagnose(letters, recipe, judged(one=[["a", "b"]]), top_k=1)
    assert (found.failures, found.signals.recall) == ((), 1.0)
    strict = diagnose(letters, recipe, judged(one=[["a", "b"]]), top_k=1, judging="strict")
    assert [miss.ids for miss in strict.failures[0].misses] == [("a",)]


def test_json(fixed, letters):
    recipe = fixed(text={"one": "xya"}, vector={"one": "y"})
    plain = json.loads(json.dumps(diagnose(letters, recipe, judged(one=["a"]), top_k=2).as_dict()))
    assert plain["failures"] == [
        {
            "id": "one",
            "question": "one",
            "missing": [
                {
                    "gold": "a",
                    "reason": "ranked_low",
                    "detail": "",
                    "rank": 3,
                    "ranks": {"text": 3},
                    "beyond": {},
                    "path": None,
                }
            ],
        }
    ]
    assert plain["signals"]["pairs"][0]["sources"] == ["text", "vector"]
    assert plain["warnings"]


def test_no_queries(fixed, letters):
    found = diagnose(letters, fixed(text={}, vector={}), [])
    assert (found.failures, found.signals) == ((), None)


def test_bad_input(letters):
    with pytest.raises(RecipeError, match="there is no recipe 'hybird'"):
        diagnose(letters, "hybird", judged(one="a"))
    with pytest.raises(ValueError, match="top_k: must be a whole number of at least 1, but got 0"):
        diagnose(letters, "hybrid", judged(one="a"), top_k=0)


def test_two_sources_may_beat_three(fixed, letters):
    recipe = fixed(text={"one": "ax"}, vector={"one": "by"}, noise={"one": "zxy"})
    found = diagnose(letters, recipe, judged(one="ab"), top_k=2)
    assert "text + vector beat all 3 sources: 1.000 against 0.000." in str(found)
    lines = str(found).splitlines()
    assert [line.split() for line in lines if line.startswith("text + vector  ")] == [
        ["text", "+", "vector", "2", "1.000"]
    ]
    plain = found.as_dict()["signals"]["subsets"]
    assert {"sources": ["text", "vector"], "recall": 1.0} in plain
    assert len(plain) == 7


def test_all_sources_together_are_best(fixed, letters):
    found = diagnose(letters, fixed(text={"one": "a"}, vector={"one": "b"}), judged(one="ab"), top_k=3)
    assert "No subset beats all sources together." in str(found)
