"""Checks that the schema of a file is the one that hopweave makes.

A file from elsewhere might hold a view in place of a table, or a trigger, that does something else than it should.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from hopweave.concurrency.once import once

_BY_STATEMENT = ("trigger", "index", "view")
_VIRTUAL = "createvirtual"

Objects = dict[tuple[str, str], tuple[str, Any]]
"""By type and name: the table that an object belongs to, and its definition."""


def wrong_objects(connection: sqlite3.Connection, schema: str) -> Iterator[str]:
    """What the file lacks, or has otherwise, or should not have; tables of its owner that stand alone are let be."""
    expected, found = _expected(schema), objects(connection)
    tables = {table for table, _ in expected.values()}
    for (kind, name), (table, definition) in found.items():
        known = expected.get((kind, name))
        alone = kind in ("table", "index") and table not in tables and not str(definition).lower().startswith(_VIRTUAL)
        if known != (table, definition) and not (known is None and alone):
            yield f"{kind} {name!r}"
    yield from (f"{kind} {name!r}, which is missing" for kind, name in expected if (kind, name) not in found)


def objects(connection: sqlite3.Connection) -> Objects:
    """The schema of a file. Tables are described by their columns: in a migrated file, statements are others."""
    rows = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE substr(name, 1, 7) <> 'sqlite_'"
    )
    return {(kind, name): (table, _definition(connection, kind, name, sql)) for kind, name, table, sql in list(rows)}


@once(max_entries=2)
def _expected(schema: str) -> Objects:
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(schema)
        return objects(connection)
    finally:
        connection.close()


def _definition(connection: sqlite3.Connection, kind: str, name: str, sql: str | None) -> Any:
    statement = "".join((sql or "").replace("IF NOT EXISTS ", "").split())
    if kind in _BY_STATEMENT or statement.lower().startswith(_VIRTUAL):
        return statement
    columns = connection.execute(
        'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)', (name,)
    )
    return sorted(columns.fetchall(), key=repr)
