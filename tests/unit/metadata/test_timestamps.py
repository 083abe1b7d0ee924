from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from hopweave.metadata.timestamps import read_timestamp

MARCH = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01",
        " 2026-03-01 ",
        "20260301",
        "2026-03-01T00:00:00",
        "2026-03-01T00:00:00Z",
        "2026-03-01T02:00:00+02:00",
        date(2026, 3, 1),
        MARCH.replace(tzinfo=None),
        MARCH,
        MARCH.astimezone(timezone(timedelta(hours=-7))),
        MARCH.timestamp(),
        int(MARCH.timestamp()),
        np.int64(MARCH.timestamp()),
        np.float64(MARCH.timestamp()),
    ],
)
def test_one_moment_in_many_spellings(value):
    found = read_timestamp(value)
    assert found == MARCH
    assert found.tzinfo is not None


@pytest.mark.parametrize(
    "value",
    ["", "soon", "2026-13-01", None, True, False, [], {}, object(), float("nan"), float("inf"), 1e300, -1e300, b"2026"],
)
def test_what_is_no_time_is_none_and_never_an_error(value):
    assert read_timestamp(value) is None


def test_zero_is_a_time():
    assert read_timestamp(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert read_timestamp(0.5) == datetime(1970, 1, 1, microsecond=500_000, tzinfo=UTC)
    assert read_timestamp(-1) == datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)
