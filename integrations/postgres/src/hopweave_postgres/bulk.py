"""Many documents at once: contributions are staged by any number of processes, and merged into the graph by one."""

from collections.abc import Sequence
from typing import Any

from psycopg import Cursor, sql

from hopweave.graph_store.backend import Added
from hopweave_postgres.save import Row
from hopweave_postgres.write import write_rows

_STAGED = (
    "SELECT DISTINCT ON (id) id, source, metadata::text, digest, payload FROM staged "
    "WHERE job = %s ORDER BY id LIMIT %s"
)


def stage_rows(cursor: Cursor[Any], job: str, rows: Sequence[Row]) -> None:
    """Put documents aside with COPY."""
    with cursor.copy("COPY staged (job, id, source, metadata, digest, payload) FROM STDIN") as copy:
        for row in rows:
            copy.write_row((job, *row))


def staged_count(cursor: Cursor[Any], job: str) -> int:
    """How many documents are staged; a task that was run twice has staged its documents twice.

    Raises an error if two documents with one id differ, as it would be chance which of them the graph gets.
    """
    cursor.execute("SELECT id FROM staged WHERE job = %s GROUP BY id HAVING count(DISTINCT digest) > 1 LIMIT 1", [job])
    if (row := cursor.fetchone()) is not None:
        raise ValueError(f"documents: two of them have the id {row[0]!r}, but differ; ids must be distinct")
    cursor.execute("SELECT count(DISTINCT id) FROM staged WHERE job = %s", [job])
    return int((cursor.fetchone() or (0,))[0])


def discard(cursor: Cursor[Any], job: str) -> None:
    """Forget what was staged."""
    cursor.execute("DELETE FROM staged WHERE job = %s", [job])


def merge_batch(cursor: Cursor[Any], job: str, batch_size: int) -> Added | None:
    """Put some of the staged documents into the graph; None if there are none left.

    Into an empty graph, indexes are made after the rows, which takes a fraction of the time.
    """
    rows = [Row(*row) for row in cursor.execute(_STAGED, [job, batch_size]).fetchall()]
    if not rows:
        return None
    cursor.execute("SELECT documents = 0 AND nodes = 0 FROM state FOR UPDATE")
    is_empty = bool((cursor.fetchone() or (False,))[0])
    indexes = _drop_indexes(cursor) if is_empty else []
    added = write_rows(cursor, rows)
    for statement in indexes:
        cursor.execute(statement.encode())
    cursor.execute("DELETE FROM staged WHERE job = %s AND id <= %s", [job, rows[-1].document_id])
    return added


def _drop_indexes(cursor: Cursor[Any]) -> list[str]:
    """Drop the indexes of this schema that no constraint needs; the statements that make them again."""
    cursor.execute(
        "SELECT c.relname, pg_get_indexdef(i.indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE c.relnamespace = current_schema()::regnamespace AND NOT i.indisunique AND c.relname <> 'staged_job' "
        "ORDER BY c.relname"
    )
    found = cursor.fetchall()
    for name, _ in found:
        cursor.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    return [statement for _, statement in found]
