"""Timestamps from ISO strings, epoch seconds, dates and datetimes."""

from datetime import UTC, date, datetime
from numbers import Real
from typing import Any


def read_timestamp(value: Any) -> datetime | None:
    """An aware datetime from an ISO string, epoch seconds, a date or a datetime; None if it is none of them.

    A time without a zone is UTC.

    >>> read_timestamp("2026-03-01").isoformat()
    '2026-03-01T00:00:00+00:00'
    >>> read_timestamp(0).year, read_timestamp("soon"), read_timestamp(True)
    (1970, None, None)
    """
    try:
        if isinstance(value, datetime):
            found = value
        elif isinstance(value, date):
            found = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - made aware below
        elif isinstance(value, bool):
            return None
        elif isinstance(value, Real):  # numpy's numbers too
            found = datetime.fromtimestamp(float(value), UTC)
        elif isinstance(value, str):
            found = datetime.fromisoformat(value.strip())
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
