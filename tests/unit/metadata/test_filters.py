from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from hopweave.hit import Hit
from hopweave.metadata.filters import as_predicate, matches

ABSENT = {}


@pytest.mark.parametrize(
    ("wanted", "metadata", "expected"),
    [
        ("ship", {"f": "ship"}, True),
        ("ship", {"f": "place"}, False),
        ("ship", ABSENT, False),
        (None, {"f": None}, True),
        (None, ABSENT, False),
        (0, {"f": 0}, True),
        (0, {"f": None}, False),
        (False, {"f": False}, True),
        ("", {"f": ""}, True),
        (["ship", "place"], {"f": "place"}, True),
        (("ship", "place"), {"f": "place"}, True),
        ({"ship", "place"}, {"f": "place"}, True),
        ([], {"f": "place"}, False),
        ("red", {"f": ["red", "blue"]}, True),
        ("green", {"f": ["red", "blue"]}, False),
        (["green", "red"], {"f": ["red", "blue"]}, True),
        ({"eq": "ship"}, {"f": "ship"}, True),
        ({"ne": "ship"}, {"f": "ship"}, False),
        ({"ne": "ship"}, {"f": "place"}, True),
        ({"ne": "ship"}, ABSENT, True),
        ({"in": ["ship"]}, {"f": "ship"}, True),
        ({"in": ["ship"]}, ABSENT, False),
        ({"nin": ["ship"]}, {"f": "ship"}, False),
        ({"nin": ["ship"]}, ABSENT, True),
        ({"gt": 5}, {"f": 5}, False),
        ({"gt": 5}, {"f": 5.5}, True),
        ({"gte": 5}, {"f": 5}, True),
        ({"lt": 5}, {"f": 4}, True),
        ({"lte": 5}, {"f": 6}, False),
        ({"gte": 2, "lt": 4}, {"f": 3}, True),
        ({"gte": 2, "lt": 4}, {"f": 4}, False),
        ({"gt": 5}, {"f": None}, False),
        ({"gt": 5}, {"f": "many"}, False),
        ({"gt": 5}, {"f": [6]}, False),
        ({"gt": 5}, ABSENT, False),
        ({"gt": "apple"}, {"f": "banana"}, True),
        ({}, {"f": 1}, True),
    ],
)
def test_values_lists_and_operators(wanted, metadata, expected):
    assert matches({"f": wanted}, metadata) is expected


@pytest.mark.parametrize(
    "late",
    [
        "2026-03-02",
        "2026-03-01T00:00:01+00:00",
        date(2026, 3, 2),
        datetime(2026, 3, 2, tzinfo=UTC).replace(tzinfo=None),
        datetime(2026, 3, 1, 5, tzinfo=timezone(timedelta(hours=2))),
        datetime(2026, 3, 2, tzinfo=UTC).timestamp(),
    ],
)
@pytest.mark.parametrize(
    "bar",
    [
        "2026-03-01",
        "2026-03-01T00:00:00Z",
        date(2026, 3, 1),
        datetime(2026, 3, 1, tzinfo=UTC).replace(tzinfo=None),
        datetime(2026, 3, 1, tzinfo=UTC),
        int(datetime(2026, 3, 1, tzinfo=UTC).timestamp()),
    ],
)
def test_dates_compare_as_dates_whatever_they_are(late, bar):
    assert matches({"d": {"gt": bar}}, {"d": late})
    assert not matches({"d": {"lt": bar}}, {"d": late})


def test_a_date_equals_itself_after_it_was_stored_as_text():
    assert matches({"d": date(2026, 3, 1)}, {"d": "2026-03-01"})
    assert matches({"d": [date(2026, 3, 1)]}, {"d": "2026-03-01"})
    assert not matches({"d": date(2026, 3, 1)}, {"d": "2026-03-02"})
    assert not matches({"d": date(2026, 3, 1)}, {"d": "some day"})


def test_an_unreadable_date_matches_no_comparison():
    assert not matches({"d": {"gt": "2026-03-01"}}, {"d": "not yet"})
    assert not matches({"d": {"lt": "2026-03-01"}}, {"d": 5 + 5j})


def test_all_fields_must_match_and_no_field_matches_all():
    metadata = {"type": "ship", "year": 1974}
    assert matches({"type": "ship", "year": {"lt": 1980}}, metadata)
    assert not matches({"type": "ship", "year": {"gt": 1980}}, metadata)
    assert matches({}, metadata)


def test_dotted_paths_reach_into_mappings_but_a_plain_name_comes_first():
    assert matches({"author.name": "Ann"}, {"author": {"name": "Ann"}})
    assert matches({"author.name": "Bob"}, {"author.name": "Bob", "author": {"name": "Ann"}})
    assert not matches({"author.name": "Ann"}, {"author": "Ann"})
    assert not matches({"author.name.first": "Ann"}, {"author": {"name": "Ann"}})


def test_none_admits_all_and_a_function_decides_itself():
    assert as_predicate(None)(Hit("a"))
    assert as_predicate(lambda hit: hit.id == "a")(Hit("a"))
    assert not as_predicate(lambda hit: hit.id == "a")(Hit("b"))


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"d": {"after": 1}}, "filters.d: unknown operator 'after'; allowed are eq, ne"),
        ({"d": {"in": "ship"}}, "filters.d: operator 'in' takes a list of values, but got 'ship'"),
        ({"d": {"nin": 3}}, "filters.d: operator 'nin' takes a list of values, but got 3"),
    ],
)
def test_bad_filters_are_named_before_any_hit_is_seen(filters, message):
    with pytest.raises(ValueError, match=message):
        as_predicate(filters)


def test_filters_and_metadata_stay_as_they_are():
    filters, metadata = {"a": ["x"], "b": {"in": ["y"]}}, {"a": "x", "b": ["y", "z"]}
    assert matches(filters, metadata)
    assert (filters, metadata) == ({"a": ["x"], "b": {"in": ["y"]}}, {"a": "x", "b": ["y", "z"]})
