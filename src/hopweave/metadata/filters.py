"""Filters on metadata.

A filter is a mapping from a metadata field to a condition: a value, a list of allowed values, or a mapping of
operators. All fields must match. A field may be a dotted path. Frameworks with their own filter language pass a
function instead.
"""

import json
from collections.abc import Callable, Mapping
from datetime import date
from operator import ge, gt, le, lt
from typing import Any

from hopweave.hit import Hit
from hopweave.metadata.timestamps import read_timestamp

Filters = Mapping[str, Any] | Callable[[Hit], bool]

_MISSING = object()
_LISTS = (list, tuple, set, frozenset)


def _compare(operator: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(actual: Any, wanted: Any) -> bool:
        if not (isinstance(actual, int | float) and isinstance(wanted, int | float)):
            moment = read_timestamp(wanted)
            actual, wanted = (actual, wanted) if moment is None else (read_timestamp(actual), moment)
        try:
            return bool(operator(actual, wanted))
        except TypeError:
            return False

    return compare


def _same(actual: Any, wanted: Any) -> bool:
    if isinstance(actual, _LISTS) and not isinstance(wanted, _LISTS):
        return any(_same(one, wanted) for one in actual)
    if isinstance(wanted, date):  # stored dates have become strings
        return read_timestamp(actual) == read_timestamp(wanted)
    return bool(actual == wanted)


OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _same,
    "ne": lambda actual, wanted: not _same(actual, wanted),
    "in": lambda actual, wanted: any(_same(actual, one) for one in wanted),
    "nin": lambda actual, wanted: not any(_same(actual, one) for one in wanted),
    "gt": _compare(gt),
    "gte": _compare(ge),
    "lt": _compare(lt),
    "lte": _compare(le),
}


def matches(filters: Mapping[str, Any], metadata: Mapping[str, Any]) -> bool:
    """Return whether metadata satisfies every field of the filter.

    A missing field satisfies only `ne` and `nin`. A field that holds a list matches where one of its values does.
    Dates compare as dates, whether ISO strings, epoch seconds or datetimes.

    >>> matches({"type": ["notice", "log"]}, {"type": "notice"})
    True
    >>> matches({"date": {"gte": "2026-01-01"}}, {"date": "2025-12-31"})
    False
    """
    return all(_field_matches(_look_up(metadata, name), wanted) for name, wanted in filters.items())


def as_predicate(filters: Filters | None) -> Callable[[Hit], bool]:
    """A predicate on hits; whatever is wrong with filters is an error that names the field.

    >>> as_predicate({"type": "notice"})(Hit("a", metadata={"type": "log"}))
    False
    >>> as_predicate({"date": {"after": 1}})
    Traceback (most recent call last):
        ...
    ValueError: filters.date: unknown operator 'after'; allowed are eq, ne, in, nin, gt, gte, lt, lte
    """
    if filters is None:
        return lambda _: True
    if not isinstance(filters, Mapping):
        if not callable(filters):
            raise ValueError(f"filters: must be a mapping of metadata fields, or a function, but got {filters!r}")
        return filters
    for name, wanted in filters.items():
        _check(name, wanted)
    return lambda hit: matches(filters, hit.metadata)


def _check(name: Any, wanted: Any) -> None:
    if not isinstance(name, str) or not name:
        raise ValueError(f"filters: a metadata field must be a non-empty string, but got {name!r}")
    for operator, value in wanted.items() if isinstance(wanted, Mapping) else ():
        if operator not in OPERATORS:
            raise ValueError(f"filters.{name}: unknown operator {operator!r}; allowed are {', '.join(OPERATORS)}")
        if operator in ("in", "nin") and not isinstance(value, _LISTS):
            raise ValueError(f"filters.{name}: operator {operator!r} takes a list of values, but got {value!r}")
    try:
        json.dumps([name, wanted], ensure_ascii=False, default=str, skipkeys=True).encode()
    except UnicodeEncodeError:
        raise ValueError(f"filters.{name!a}: is not valid Unicode") from None
    except (ValueError, RecursionError):
        raise ValueError(f"filters.{name}: is nested too deeply") from None


def _field_matches(actual: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return all(
            operator in ("ne", "nin") if actual is _MISSING else OPERATORS[operator](actual, value)
            for operator, value in wanted.items()
        )
    if actual is _MISSING:
        return False
    return OPERATORS["in" if isinstance(wanted, _LISTS) else "eq"](actual, wanted)


def _look_up(metadata: Mapping[str, Any], name: str) -> Any:
    if name in metadata:
        return metadata[name]
    found: Any = metadata
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return _MISSING
        found = found[part]
    return found
