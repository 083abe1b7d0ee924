"""Writes to a graph in PostgreSQL: documents in one transaction, and many documents that were staged before."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import Cursor, sql
from psycopg.rows import dict_row

from hopweave.graph_store.backend import Added, KnowledgeBaseError, apply, decoded
from hopweave_postgres.partial_tables import PartialTables
from hopweave_postgres.save import Row, save


def write_rows(
    cursor: Cursor[Any], rows: Sequence[Row], gone: Collection[str] = (), source: str | None = None
) -> Added:
    """Put documents into the graph and take others out, in the transaction of the cursor.

    Writers take turns: nearly every document changes the sums of frequent words, so locks on single rows would let
    no more of them through, and in a different order each time. The turn begins after the contributions are made.
    """
    state = _locked_state(cursor)
    wanted = {row.document_id: row for row in rows if row.payload}
    gone = [*gone, *(row.document_id for row in rows if not row.payload)]  # they contribute nothing
    if source is not None:
        cursor.execute("SELECT id FROM documents WHERE source = %s AND source <> ''", [source])
        gone = [*gone, *(id_ for (id_,) in cursor.fetchall())]
    cursor.execute(
        "SELECT node, id, payload, mentions, nearby, digest, source, metadata FROM documents WHERE id = ANY(%s)",
        [[*wanted, *gone]],
    )
    known = {row[1]: row for row in cursor.fetchall()}
    new, moved = [], []
    for id_, row in wanted.items():
        old = known.get(id_)
        if old is None or old[5] != row.digest:
            new.append(row)
        elif (old[6], old[7]) != (row.source, json.loads(row.metadata)):
            moved.append(row)
    removed = [id_ for id_ in dict.fromkeys(gone) if id_ in known and id_ not in wanted]
    updated = sum(row.document_id in known for row in new) + len(moved)
    if new or removed:
        _change(cursor, state, new, removed, known)
    if moved:
        _move(cursor, moved, version=not (new or removed))
    return Added(len(new) + len(moved) - updated, updated, len(wanted) - len(new) - len(moved), len(removed))


def _change(
    cursor: Cursor[Any], state: dict[str, Any], new: Sequence[Row], removed: Sequence[str], known: Mapping[str, Any]
) -> None:
    part = PartialTables(cursor, state)
    contributions = [decoded(row.document_id, row.payload) for row in new]
    concerned = [*(row.document_id for row in new), *removed]
    part.load([known[id_][:5] for id_ in concerned if id_ in known], contributions)
    affected = apply(part.tables, contributions, removed, outside=part)
    save(cursor, part, state, new, removed, affected)


def _move(cursor: Cursor[Any], rows: Sequence[Row], *, version: bool) -> None:
    """Documents that contribute what they did before, but belong to another source or have other metadata."""
    cursor.execute(
        "UPDATE documents SET source = m.source, metadata = m.metadata "
        "FROM unnest(%s::text[], %s::text[], %s::jsonb[]) AS m (id, source, metadata) WHERE documents.id = m.id",
        [list(column) for column in zip(*(row[:3] for row in rows), strict=True)],
    )
    if version:
        cursor.execute("UPDATE state SET version = version + 1")


def _locked_state(cursor: Cursor[Any]) -> dict[str, Any]:
    with cursor.connection.cursor(row_factory=dict_row) as one:
        found = one.execute("SELECT * FROM state FOR UPDATE").fetchone()
    if found is None:
        raise KnowledgeBaseError("the graph has lost its state; build it again in a new schema")
    return found


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
