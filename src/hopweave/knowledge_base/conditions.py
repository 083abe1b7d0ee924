"""Which documents of a file pass: metadata filters and tenants as conditions in SQL."""

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.hit import Hit
from hopweave.metadata.filters import Filters, as_predicate, matches
from hopweave.metadata.tenants import checked_tenant

Rows = npt.NDArray[np.int64]
Tenant = Mapping[str, Any]

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


def tenant_condition(tenant: Tenant) -> tuple[str, list[Any]]:
    """An SQL condition on `documents` for metadata values that must be present, and the values to bind.

    A field that holds a list must hold one of the values in it. For SQLite, true is the number 1, so types count too.

    >>> tenant_condition({"customer": "acme"})[1]
    ['$."customer"', '$."customer"', 'acme']
    """
    parts, values = ["1"], []
    for name, wanted in sorted(checked_tenant(tenant).items()) if tenant else ():
        allowed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
        plain = [one for one in allowed if not isinstance(one, bool)]
        truths = [str(one).lower() for one in allowed if isinstance(one, bool)]  # the names of their JSON types
        parts.append(
            "json_type(documents.metadata, ?) <> 'object' AND "
            "EXISTS (SELECT 1 FROM json_each(documents.metadata, ?) AS held WHERE CASE WHEN held.type IN ('true', "
            f"'false') THEN held.type IN ({_marks(truths)}) ELSE held.value IN ({_marks(plain)}) END)"
        )
        values.extend([f'$."{name}"', f'$."{name}"', *truths, *plain])
    return " AND ".join(parts), values


def stored_tenant_fields(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The metadata fields that every question has to name a tenant by; none if documents are for all."""
    found = connection.execute("SELECT value FROM settings WHERE name = 'tenant_fields'").fetchone()
    return tuple(json.loads(found[0])) if found else ()


def _marks(values: Sequence[Any]) -> str:
    return ", ".join("?" * len(values))
