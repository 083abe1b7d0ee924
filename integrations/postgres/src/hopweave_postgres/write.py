"""One write to a graph in PostgreSQL: new contributions, removed ones, and changes of source or metadata alone."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from psycopg import Cursor
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
