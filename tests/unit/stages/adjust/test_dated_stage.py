import math
from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.adjust.dated_stage import decay_factor
from hopweave.stages.adjust.time_decay import TimeDecay

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def fresh(value):
    hit = Hit("a", metadata={} if value is None else {"timestamp": value})
    return TimeDecay(half_life_days=90)._freshness(hit, Query("ferries", now=NOW))


def test_a_half_life_is_exactly_a_half():
    assert decay_factor(14, 14) == 0.5
    assert decay_factor(60, 60) == 0.5
    assert decay_factor(90, 90) == 0.5
    assert decay_factor(0, 90) == 1.0
    assert decay_factor(270, 90) == 0.125


def test_exponential():
    assert decay_factor(60, 60, "exponential") == math.exp(-1)


def test_a_great_age_leaves_nothing():
    assert decay_factor(1e300, 1e-300) == 0.0
    assert decay_factor(1e300, 1e-300, "exponential") == 0.0


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00Z",
        "2026-01-01T02:00:00+02:00",
        1767225600,
        1767225600.0,
        date(2026, 1, 1),
        datetime(2026, 1, 1),  # noqa: DTZ001 - naive counts as UTC
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2025, 12, 31, 22, tzinfo=timezone(timedelta(hours=-2))),
    ],
)
def test_every_way_to_write_a_date(value):
    assert fresh(value) == (0.5, {"age_days": 90.0, "decay": 0.5})


def test_the_future_counts_as_now():
    assert fresh("2027-01-01") == (1.0, {"age_days": 0.0, "decay": 1.0})


@pytest.mark.parametrize("value", ["soon", "", True, [], {}, float("nan"), 1e300, object()])
def test_an_unreadable_date_is_no_date(value):
    factor, details = fresh(value)
    assert factor is None
    assert details["note"].startswith("undated: cannot read timestamp")


def test_no_date():
    assert fresh(None) == (None, {"note": "undated"})


def test_the_ends_of_time():
    assert fresh(datetime.min.replace(tzinfo=UTC))[0] == pytest.approx(0)
    assert fresh(datetime.max.replace(tzinfo=UTC))[0] == 1.0
    assert fresh(datetime.min.replace(tzinfo=timezone(timedelta(hours=14))))[0] == pytest.approx(0)
