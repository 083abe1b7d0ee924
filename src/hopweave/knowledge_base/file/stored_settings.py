"""The settings of a file, as rows with a digest that tells whether they are as they were stored."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.file.digest import digest_of

_DIGEST = "digest"


def read_settings(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """The settings by name; none if the file is new."""
    rows = _rows(connection)
    digest = rows.pop(_DIGEST, None)
    try:
        if digest is not None and digest != _digest(rows):
            raise ValueError("they are not as they were stored")
        return {name: json.loads(value) for name, value in rows.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise KnowledgeBaseError(f"{path}: its settings cannot be read: {error}") from error


def write_settings(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Store settings in place of those of the same names, inside the caller's transaction."""
    rows = {**_rows(connection), **{name: json.dumps(value) for name, value in values.items()}}
    rows.pop(_DIGEST, None)
    rows[_DIGEST] = _digest(rows)
    connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows.items())


def stored_tenant_fields(connection: sqlite3.Connection) -> tuple[str, ...]:
    """The metadata fields that every question has to name a tenant by; none if documents are for all."""
    found = connection.execute("SELECT value FROM settings WHERE name = 'tenant_fields'").fetchone()
    return tuple(json.loads(found[0])) if found else ()


def record_tenant_fields(connection: sqlite3.Connection, tenant: Mapping[str, Any] | None) -> None:
    """Before documents of a tenant are written: note its fields, if all documents so far are those of tenants.

    Of several writers with different fields, those count that all have, or else those of the first.
    """
    if tenant is None:
        return
    known = stored_tenant_fields(connection)
    if known or connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is None:
        common = [name for name in known if name in tenant] or list(known) or sorted(tenant)
        if common != list(known):
            write_settings(connection, {"tenant_fields": common})


def _rows(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM settings").fetchall())


def _digest(rows: Mapping[str, str]) -> str:
    return digest_of(*(part for name in sorted(rows) for part in (name, rows[name]))).hex()
