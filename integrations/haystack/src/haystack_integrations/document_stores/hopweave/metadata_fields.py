"""What there is to know about the metadata of many documents."""

import json
from collections.abc import Iterable
from typing import Any

from haystack import Document

_TYPES = {bool: "boolean", int: "int", float: "float"}


def field_types(documents: Iterable[Document]) -> dict[str, dict[str, str]]:
    """By field, a mapping with `type` (boolean, int, float or keyword), by the last document that has the field."""
    pairs = ((name, value) for one in documents for name, value in one.meta.items() if value is not None)
    return {name: {"type": _TYPES.get(type(value), "keyword")} for name, value in pairs}


def value_range(documents: Iterable[Document], field: str) -> dict[str, Any]:
    """The smallest and the largest value of a field as `min` and `max`, None if there are none that compare."""
    values = [value for value in _values(documents, field) if isinstance(value, int | float | str)]
    try:
        return {"min": min(values, default=None), "max": max(values, default=None)}
    except TypeError:  # numbers and strings do not compare
        return {"min": None, "max": None}


def distinct_values(documents: Iterable[Document], field: str, search_term: str | None = None) -> list[Any]:
    """
    The values of a field in the order of their spelling; 1, 1.0, "1" and True are four.

    With `search_term`, only values that contain it, whatever the case.
    """
    wanted = (search_term or "").lower()
    found = {
        (str(value), type(value).__name__, json.dumps(value, sort_keys=True)): value
        for value in _values(documents, field)
    }
    return [found[key] for key in sorted(found) if wanted in key[0].lower()]


def _values(documents: Iterable[Document], field: str) -> Iterable[Any]:
    return (one.meta[field] for one in documents if one.meta.get(field) is not None)
