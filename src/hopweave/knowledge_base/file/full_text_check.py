"""Checks that the full-text index has the words of the documents.

FTS5 can check itself, but that counts as writing, which a file that is only read refuses. So the index is made again
from the documents, in a temporary database, and compared word by word.
"""

import sqlite3
from collections.abc import Iterator
from itertools import zip_longest

from hopweave.knowledge_base.schema import tokenizer_of

_AT_ONCE = 10_000


def full_text_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """One sentence if it does not."""
    words = tokenizer_of(connection)
    connection.execute(f"CREATE VIRTUAL TABLE temp.again USING fts5 (title, text, content = '', tokenize = '{words}')")
    try:
        connection.execute("INSERT INTO temp.again (rowid, title, text) SELECT row, title, text FROM documents")
        for kind in ("row", "instance"):
            connection.execute(f"CREATE VIRTUAL TABLE temp.made_{kind} USING fts5vocab (temp, again, {kind})")
            connection.execute(f"CREATE VIRTUAL TABLE temp.kept_{kind} USING fts5vocab (main, full_text, {kind})")
        if not (_same_words(connection) and _same_sizes(connection) and _every_word_found(connection)):
            yield "the full-text index does not say what the documents say"
    finally:
        for table in ("made_row", "kept_row", "made_instance", "kept_instance", "again"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _same_words(connection: sqlite3.Connection) -> bool:
    """Whether both have the same words at the same places; both list them in order."""
    made, kept = (connection.execute(f"SELECT * FROM temp.{name}_instance") for name in ("made", "kept"))
    pairs = zip_longest(*(iter(lambda cursor=cursor: cursor.fetchmany(_AT_ONCE), []) for cursor in (made, kept)))  # type: ignore[misc]
    return all(one == other for one, other in pairs)


def _same_sizes(connection: sqlite3.Connection) -> bool:
    """Whether both have the same numbers of words, by document and on average, which BM25 uses."""
    pairs = (
        ("SELECT * FROM temp.again_docsize", "SELECT * FROM main.full_text_docsize"),
        # without documents, sums of 0 may be written or not
        *(
            [("SELECT block FROM temp.again_data WHERE id = 1", "SELECT block FROM main.full_text_data WHERE id = 1")]
            if connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone()
            else []
        ),
    )
    return not any(
        connection.execute(f"{one} EXCEPT {other} LIMIT 1").fetchone()
        for pair in pairs
        for one, other in (pair, pair[::-1])
    )


def _every_word_found(connection: sqlite3.Connection) -> bool:
    """Whether every word is found where a search looks for it, which a list of all words does not show."""
    query = (
        "SELECT 1 FROM temp.made_row AS made WHERE NOT EXISTS (SELECT 1 FROM temp.kept_row AS kept "
        "WHERE kept.term = made.term AND kept.doc = made.doc AND kept.cnt = made.cnt) LIMIT 1"
    )
    return connection.execute(query).fetchone() is None
