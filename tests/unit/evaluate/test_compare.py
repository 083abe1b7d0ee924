import json

import pytest

from hopweave.evaluate.compare import compare

from .conftest import judged

SIX = {f"q{n}": "a" for n in range(6)}


def test_better_on_every_query(fixed, letters):
    first, second = fixed("first", text=dict.fromkeys(SIX, "xa")), fixed("second", text=dict.fromkeys(SIX, "ax"))
    found = compare(letters, first, second, judged(**SIX), measures=["mrr@5", "recall@5"])
    assert found.differences["mrr@5"].mean == 1 - 1 / 2
    assert found.differences["mrr@5"].p_value == 2 / 2**6
    assert found.verdict == "second is better than first (mrr@5 +0.500, p = 0.031)."
    assert (len(found.wins), len(found.losses)) == (6, 0)
    assert found.differences["recall@5"].within_noise


def test_worse_on_every_query(fixed, letters):
    first, second = fixed("first", text=dict.fromkeys(SIX, "ax")), fixed("second", text=dict.fromkeys(SIX, "xa"))
    found = compare(letters, first, second, judged(**SIX), measures=["mrr@5"])
    assert found.verdict == "first is better than second (mrr@5 -0.500, p = 0.031)."


def test_within_noise_is_said_plainly(fixed, letters):
    first = fixed("first", text=dict.fromkeys(SIX, "xa"))
    second = fixed("second", text={**dict.fromkeys(SIX, "xa"), "q0": "ax", "q1": "xya", "q2": "a"})
    found = compare(letters, first, second, judged(**SIX), measures=["mrr@5"])
    # gains 1/2, −1/6, 1/2: of the 8 sums ±3 ±1 ±3 (sixths) those at least 5 away are 7, 5, −5, −7
    assert found.differences["mrr@5"].p_value == 4 / 8
    assert found.verdict.startswith("The difference is within noise (mrr@5 +0.139, p = 0.500)")
    assert [(one.query.id, one.before, one.after) for one in found.wins] == [("q0", 0.5, 1.0), ("q2", 0.5, 1.0)]
    assert [(one.query.id, one.before, one.after) for one in found.losses] == [("q1", 0.5, 1 / 3)]
    shown = str(found)
    assert "second: 2 better, 1 worse, 3 equal (mrr@5)" in shown
    assert "  − q1  0.500 → 0.333  q1" in shown


def test_wins_come_largest_first(fixed, letters):
    queries = judged(small="a", large="a")
    first = fixed("first", text={"small": "xya", "large": "xya"})
    second = fixed("second", text={"small": "xa", "large": "a"})
    assert [one.query.id for one in compare(letters, first, second, queries, measures=["mrr@5"]).wins] == [
        "large",
        "small",
    ]


def test_equal(fixed, letters):
    first, second = fixed("first", text={"q0": "a"}), fixed("second", text={"q0": "a"})
    found = compare(letters, first, second, judged(q0="a"))
    assert found.verdict == "first and second are equal on every query (recall@5)."
    assert "equal on every query" in str(found)


def test_json_and_markdown(fixed, letters):
    first, second = fixed("first", text=dict.fromkeys(SIX, "xa")), fixed("second", text=dict.fromkeys(SIX, "ax"))
    found = compare(letters, first, second, judged(**SIX), measures=["mrr@5"])
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["differences"]["mrr@5"] == {
        "mean": 0.5,
        "low": 0.5,
        "high": 0.5,
        "p_value": 2 / 2**6,
        "within_noise": False,
    }
    assert (plain["decided_by"], plain["losses"], plain["wins"][0]) == (
        "mrr@5",
        [],
        {"id": "q0", "question": "q0", "before": 0.5, "after": 1.0},
    )
    assert found.to_markdown().splitlines()[0] == "| measure | first | second | difference | 95 % interval | p |  |"


def test_the_same_recipe_twice_is_a_mistake(letters):
    with pytest.raises(ValueError, match="recipes: 'hybrid' comes twice"):
        compare(letters, "hybrid", "hybrid", judged(q="a"))
