import math
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import sigmoid
from hopweave.stages.adjust.time_decay import TimeDecay

NOW = datetime(2026, 4, 1, tzinfo=UTC)
QUERY = Query("ferries", now=NOW)


def aged(name, score, days, **kwargs):
    return Hit(name, score, metadata={"timestamp": (NOW - timedelta(days=days)).isoformat()}, **kwargs)


@pytest.mark.parametrize(
    ("days", "factor"),
    [(0, 0.5 + 0.5), (60, 0.5 + 0.5 / 2), (120, 0.5 + 0.5 / 4), (240, 0.5 + 0.5 / 16)],
)
def test_true_half_life(days, factor):
    # the memory system's own table (0.68 at 60 days) follows e^(-age/60); one half-life must mean a half, so ours
    # has faded half of what can fade by then
    result = TimeDecay().apply([aged("a", 0.8, days)], QUERY)
    assert result[0].score == pytest.approx(0.8 * factor)
    assert result[0].receipts[-1].details["factor"] == pytest.approx(factor)


@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (60, 0.68), (120, 0.57), (240, 0.51)])
def test_exponential_gives_the_formula_of_the_memory_system(days, factor):
    # 0.5 + 0.5 e^(-age/60); its table prints 0.59 and 0.52 for the last two, which its formula does not give
    result = TimeDecay(decay="exponential").apply([aged("a", 1.0, days)], QUERY)
    assert result[0].score == pytest.approx(0.5 + 0.5 * math.exp(-days / 60))
    assert result[0].score == pytest.approx(factor, abs=0.005)


def test_the_floor_holds():
    assert TimeDecay().apply([aged("a", 0.8, 100_000)], QUERY)[0].score == pytest.approx(0.4)
    assert TimeDecay(floor=0).apply([aged("a", 0.8, 60)], QUERY)[0].score == pytest.approx(0.4)
    assert TimeDecay(floor=1).apply([aged("a", 0.8, 60)], QUERY)[0].score == 0.8


def test_undated_keeps_its_score_and_says_so():
    result = TimeDecay().apply([Hit("a", 0.5)], QUERY)
    assert result[0].score == 0.5
    assert result[0].receipts[-1].details == {"note": "undated"}


def test_an_old_logit_falls():
    # −4 · 0.75 = −3 would have raised it
    result = TimeDecay().apply([aged("a", -4.0, 60, scale="logit")], QUERY)
    assert result[0].score == pytest.approx(sigmoid(-4) * 0.75)


def test_order_ties_empty_none():
    result = TimeDecay().apply([aged("old", 0.6, 600), aged("new", 0.5, 0)], QUERY)
    assert [hit.id for hit in result] == ["new", "old"]
    assert [hit.id for hit in TimeDecay().apply([aged("b", 0.5, 7), aged("a", 0.5, 7)], QUERY)] == ["b", "a"]
    assert TimeDecay().apply([], QUERY) == []
    assert TimeDecay().apply([aged("a", None, 0)], QUERY)[0].score is None


@pytest.mark.parametrize("fields", [{"floor": 1.5}, {"half_life_days": -1}])
def test_bad_configuration(fields):
    with pytest.raises(ValidationError, match=next(iter(fields))):
        TimeDecay(**fields)
