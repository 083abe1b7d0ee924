"""Is the file sound? Every document as it was stored, every index entry as its document says."""

import sqlite3
from collections.abc import Iterator, Sequence

import numpy as np

from hopweave.document import searchable
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.entry import content_digest
from hopweave.knowledge_base.schema import TOKENIZER
from hopweave.text.analyzers import analyzer
from hopweave.text.bm25_index import term_counts


def problems(connection: sqlite3.Connection, analyzers: Sequence[str], *, embedded: bool) -> list[str]:
    """What is wrong, one sentence each; nothing when the file is sound. Nothing is written, not even a lock."""
    try:
        # asking more of a damaged file only raises
        return list(_damage(connection)) or [
            *_changed_documents(connection),
            *(sentence for name in analyzers for sentence in _wrong_terms(connection, name)),
            *_wrong_vectors(connection, embedded),
            *_left_behind(connection),
            *_wrong_full_text(connection),
            *_wrong_contributions(connection),
        ]
    except sqlite3.DatabaseError as error:
        return [f"storage: {error}"]


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (sentence,) in connection.execute("PRAGMA integrity_check"):
        if sentence != "ok":
            yield f"storage: {sentence}"


def _changed_documents(connection: sqlite3.Connection) -> Iterator[str]:
    for key, heading, text, metadata, source, digest in connection.execute(
        "SELECT id, title, text, metadata, source, digest FROM documents"
    ):
        if digest not in (content_digest(text, metadata, source), content_digest(text, metadata, source, heading)):
            yield f"document {key!r} is not as it was stored"


def _wrong_terms(connection: sqlite3.Connection, name: str) -> Iterator[str]:
    analyse = analyzer(name)
    rows = connection.execute(
        "SELECT id, title, text, keys, counts FROM documents "
        "LEFT JOIN terms ON terms.row = documents.row AND analyzer = ?",
        (name,),
    )
    for key, title, text, keys, counts in rows:
        if keys is None:
            yield f"document {key!r} lacks terms of {name!r}"
            continue
        made_keys, made_counts = term_counts(analyse(searchable(title, text)))
        if (keys, counts) != (made_keys.tobytes(), made_counts.tobytes()):
            yield f"document {key!r} has other terms of {name!r} than its text"


def _wrong_vectors(connection: sqlite3.Connection, embedded: bool) -> Iterator[str]:
    if embedded:
        query = "SELECT id FROM documents WHERE row NOT IN (SELECT row FROM vectors)"
        yield from (f"document {key!r} lacks a vector" for (key,) in connection.execute(query))
    query = "SELECT model FROM vectors GROUP BY model HAVING min(length(vector)) <> max(length(vector))"
    yield from (f"vectors of model {name!r} differ in size" for (name,) in connection.execute(query))
    query = "SELECT id, vector FROM vectors JOIN documents USING (row)"
    for key, vector in connection.execute(query):
        if len(vector) % 4 or not np.isfinite(np.frombuffer(vector, np.float32)).all():
            yield f"document {key!r} has a vector that is not made of finite numbers"


def _left_behind(connection: sqlite3.Connection) -> Iterator[str]:
    for table in ("terms", "vectors"):
        query = f"SELECT count(*) FROM {table} WHERE row NOT IN (SELECT row FROM documents)"
        if (count := connection.execute(query).fetchone()[0]) > 0:
            yield f"{count} rows of {table} belong to no document"


def _wrong_contributions(connection: sqlite3.Connection) -> Iterator[str]:
    for document_id, digest, payload in connection.execute(
        "SELECT document_id, digest, payload FROM graph_contributions WHERE digest IS NOT NULL OR payload IS NOT NULL"
    ):
        if not ledger.is_sound(document_id, digest, payload):
            yield f"graph entry of {document_id!r} is not as it was stored"


def _wrong_full_text(connection: sqlite3.Connection) -> Iterator[str]:
    # FTS5's own check wants to write, which a file that is only read refuses; so the index is made again and compared
    connection.execute(
        f"CREATE VIRTUAL TABLE temp.again USING fts5 (title, text, content = '', tokenize = '{TOKENIZER}')"
    )
    try:
        connection.execute("INSERT INTO temp.again (rowid, title, text) SELECT row, title, text FROM documents")
        connection.execute("CREATE VIRTUAL TABLE temp.made USING fts5vocab (temp, again, row)")
        connection.execute("CREATE VIRTUAL TABLE temp.kept USING fts5vocab (main, full_text, row)")
        pairs = (("temp.made", "temp.kept"), ("temp.again_docsize", "main.full_text_docsize"))
        for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
            if connection.execute(f"SELECT * FROM {one} EXCEPT SELECT * FROM {other} LIMIT 1").fetchone():
                yield "the full-text index does not say what the documents say"
                return
    finally:
        for table in ("made", "kept", "again"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
