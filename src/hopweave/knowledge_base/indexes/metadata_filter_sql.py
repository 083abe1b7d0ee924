"""Metadata filters as conditions in SQL: which documents of a file pass."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.hit import Hit
from hopweave.metadata.filters import Filters, as_predicate, matches

Rows = npt.NDArray[np.int64]

_LISTS = (list, tuple, set, frozenset)
_MAX_STRINGS = 100  # that SQLite looks for


def passing_rows(connection: sqlite3.Connection, filters: Filters) -> Rows:
    """The rows of the documents that pass, sorted. SQLite looks for the strings that must be there, so few are read."""
    passes = as_predicate(filters)
    if not isinstance(filters, Mapping):
        found = connection.execute("SELECT row, id, text, metadata FROM documents ORDER BY row")
        kept = [row for row, key, text, metadata in found if passes(Hit(key, None, text, json.loads(metadata)))]
        return np.array(kept, np.int64)
    condition, values = _condition(filters)
    found = connection.execute(f"SELECT row, metadata FROM documents WHERE {condition} ORDER BY row", values)
    return np.array([row for row, metadata in found if matches(filters, json.loads(metadata))], np.int64)


def matching_ids(connection: sqlite3.Connection, where: Mapping[str, Any]) -> list[str]:
    """The ids of the documents that pass."""
    as_predicate(where)  # for its checks
    condition, values = _condition(where)
    found = connection.execute(f"SELECT id, metadata FROM documents WHERE {condition}", values)
    return [key for key, metadata in found if matches(where, json.loads(metadata))]


def _condition(filters: Mapping[str, Any]) -> tuple[str, list[str]]:
    """What the metadata of a document, as JSON, must contain to pass: for each field, one of these strings."""
    parts, values = ["1"], []
    for name, wanted in filters.items():
        for strings in _needed(name, wanted):
            texts = [json.dumps(text, ensure_ascii=False) for text in strings]
            parts.append(f"({' OR '.join(['instr(metadata, ?)'] * len(texts)) or '0'})")
            values += texts
    return " AND ".join(parts), values


def _needed(name: str, wanted: Any) -> Iterator[list[str]]:
    if not isinstance(wanted, Mapping):
        wanted = {"in" if isinstance(wanted, _LISTS) else "eq": wanted}
    for operator, value in wanted.items():
        if operator in ("ne", "nin"):  # a missing field passes
            continue
        yield [name, name.rpartition(".")[2]]
        values = list(value) if operator == "in" else [value]
        if operator in ("eq", "in") and len(values) <= _MAX_STRINGS and all(isinstance(one, str) for one in values):
            yield values
