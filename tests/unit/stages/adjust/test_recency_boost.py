import math
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import sigmoid
from hopweave.stages.adjust.recency_boost import RecencyBoost

NOW = datetime(2026, 4, 1, tzinfo=UTC)
QUERY = Query("ferries", now=NOW)


def aged(name, score, days, **kwargs):
    return Hit(name, score, metadata={"timestamp": (NOW - timedelta(days=days)).isoformat()}, **kwargs)


@pytest.mark.parametrize(("days", "bonus"), [(0, 0.10), (14, 0.05), (28, 0.025)])
def test_the_table_of_the_memory_system(days, bonus):
    # its table shows a true half-life, its formula e^(-age/14) does not; ours follows the table
    result = RecencyBoost().apply([aged("a", 0.5, days)], QUERY)
    assert result[0].score == pytest.approx(0.5 + bonus)
    assert result[0].receipts[-1].details["bonus"] == pytest.approx(bonus)


def test_exponential():
    result = RecencyBoost(decay="exponential").apply([aged("a", 0.5, 14)], QUERY)
    assert result[0].score == pytest.approx(0.5 + 0.1 * math.exp(-1))


def test_clamp_where_asked():
    assert RecencyBoost().apply([aged("a", 0.95, 0)], QUERY)[0].score == pytest.approx(1.05)
    assert RecencyBoost(clamp=True).apply([aged("a", 0.95, 0)], QUERY)[0].score == 1.0


def test_undated_gets_nothing_and_says_so():
    result = RecencyBoost().apply([Hit("a", 0.5), Hit("b", 0.4, metadata={"timestamp": "?"})], QUERY)
    assert [(hit.id, hit.score) for hit in result] == [("a", 0.5), ("b", 0.4)]
    assert result[0].receipts[-1].details == {"note": "undated"}
    assert result[1].receipts[-1].details == {"note": "undated: cannot read timestamp '?'"}


def test_order_changes_with_the_scores():
    result = RecencyBoost().apply([aged("old", 0.50, 365), aged("new", 0.45, 0)], QUERY)
    assert [hit.id for hit in result] == ["new", "old"]


def test_logits_and_open_ended_scores_are_converted_first():
    assert RecencyBoost().apply([aged("a", -4.0, 0, scale="logit")], QUERY)[0].score == pytest.approx(sigmoid(-4) + 0.1)
    assert RecencyBoost().apply([aged("a", 12.0, 0, scale="positive")], QUERY)[0].score == pytest.approx(1.1)


def test_empty_and_none_scores():
    assert RecencyBoost().apply([], QUERY) == []
    assert RecencyBoost().apply([aged("a", None, 0)], QUERY)[0].score is None


@pytest.mark.parametrize("fields", [{"weight": -0.1}, {"half_life_days": 0}])
def test_bad_configuration(fields):
    with pytest.raises(ValidationError, match=next(iter(fields))):
        RecencyBoost(**fields)
