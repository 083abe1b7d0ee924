"""Is the file sound? Every document whole, every index entry owned by a document."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress

from hopweave.knowledge_base.entry import digest_of


def problems(connection: sqlite3.Connection, analyzers: Sequence[str], model: str | None) -> list[str]:
    """What is wrong, one sentence each; nothing when the file is sound."""
    found = list(_damaged(connection))
    if found:  # asking more of a damaged file only raises
        return found
    found.extend(_changed_documents(connection))
    expected = [("terms", "analyzer", name) for name in analyzers] + [("vectors", "model", model)] * (model is not None)
    for table, column, name in expected:
        query = f"SELECT id FROM documents WHERE row NOT IN (SELECT row FROM {table} WHERE {column} = ?)"
        found.extend(f"document {key!r} lacks {table} of {name!r}" for (key,) in connection.execute(query, (name,)))
    for table, column in (("terms", "row"), ("vectors", "row"), ("full_text_docsize", "id")):
        query = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT row FROM documents)"
        if (count := connection.execute(query).fetchone()[0]) > 0:
            found.append(f"{count} rows of {table} belong to no document")
    found.extend(
        f"vectors of model {name!r} differ in size"
        for (name,) in connection.execute(
            "SELECT model FROM vectors GROUP BY model HAVING min(length(vector)) <> max(length(vector))"
        )
    )
    return found


def _damaged(connection: sqlite3.Connection) -> Iterator[str]:
    try:
        for (sentence,) in connection.execute("PRAGMA integrity_check"):
            if sentence != "ok":
                yield f"storage: {sentence}"
        with suppress(sqlite3.OperationalError):  # it wants to write, which a read-only or busy file refuses
            connection.execute("INSERT INTO full_text (full_text) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        yield f"storage: {error}"


def _changed_documents(connection: sqlite3.Connection) -> Iterator[str]:
    for key, text, metadata, digest in connection.execute("SELECT id, text, metadata, digest FROM documents"):
        if digest_of(text, metadata) != digest:
            yield f"document {key!r} is not as it was stored"
