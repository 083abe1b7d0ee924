"""An index over trigrams (`pg_trgm`), by which misspelt words of names are found on a server that has the extension.

The extension narrows down which words are compared, no more: what is found is the same with and without it.
"""

import logging
import math
from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import Connection, sql

from hopweave.graph_store.backend import letters_apart, without_accents

logger = logging.getLogger(__name__)

EXTENSION_SCHEMA = (
    "(SELECT n.nspname::text FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace "
    "WHERE e.extname = 'pg_trgm' AND has_schema_privilege(n.oid, 'USAGE') "
    "AND to_regclass('vocabulary_trigrams') IS NOT NULL)"
)
"""An expression: the schema of the extension, if there are both it and the index; else NULL."""

_SIMILAR = """
WITH found AS MATERIALIZED (
    SELECT DISTINCT v.bucket, v.word FROM (
        SELECT plain FROM unnest(%s::text[], %s::text[]) AS a (word, plain)
        WHERE %s OR NOT EXISTS (SELECT 1 FROM vocabulary WHERE vocabulary.word = a.word)
    ) a CROSS JOIN LATERAL (
        SELECT bucket, word FROM vocabulary WHERE plain OPERATOR({schema}.%%) a.plain OFFSET 0
    ) v WHERE v.bucket = ANY(%s)
), ends AS MATERIALIZED (
    SELECT b.bucket, (
        SELECT word FROM vocabulary WHERE vocabulary.bucket = b.bucket ORDER BY word OFFSET %s LIMIT 1
    ) AS word FROM (SELECT DISTINCT bucket FROM found) b
)
SELECT found.bucket, found.word FROM found JOIN ends USING (bucket) WHERE ends.word IS NULL OR found.word < ends.word
"""
"""Words of names that share trigrams with some words, of so many of the words in each bucket, as without the index."""

_ANY_GROUP = 4  # groups of three letters that one swap of letters changes, which is the most that any edit changes
_logged: set[str] = set()


def prepare(connection: Connection[Any], schema: str, where: str) -> None:
    """Make the index if the server has the extension or may be given it; if not, that is logged once.

    Whoever opens the graph for writing later makes it then.
    """
    if _has_index(connection, schema):
        return
    reason = _obstacle(connection)
    try:
        if reason is None:
            _make_once(connection, schema)
    except psycopg.OperationalError:
        raise
    except psycopg.Error as error:
        reason = str(error).partition("\n")[0]
    if reason is not None:
        log_once(where, reason)


def log_once(where: str, reason: str) -> None:
    """Log that misspelt names are looked for without the extension."""
    if where not in _logged:
        _logged.add(where)
        logger.info("%s: misspelt names are looked for without a trigram index: %s", where, reason)


def bucket(letter: str, length: int) -> str:
    """Where words lie that begin with a letter and have this length, without accents.

    >>> bucket("h", 6)
    'h6'
    """
    return f"{letter}{length}"


def buckets_near(word: str) -> list[str]:
    """Where words lie that are a few letters away from a word.

    >>> buckets_near("harris")
    ['h5', 'h6', 'h7']
    """
    plain = without_accents(word)
    apart = letters_apart(plain)
    return [bucket(plain[:1], length) for length in range(len(plain) - apart, len(plain) + apart + 1)]


def min_similarity(word: str) -> float | None:
    """How similar by trigrams every word is that is few enough letters away from a word without accents.

    None where that is so little that trigrams do not tell words apart. An edit changes at most four of the trigrams of
    the word, so all others are shared; the other word has at most as many as it has letters, and one.

    >>> min_similarity("harris"), min_similarity("skua"), min_similarity("гагара")
    (0.25, None, None)
    """
    if not (word.isascii() and word.isalnum()):  # which letters there are depends on the locale of the database
        return None
    padded, apart = f"  {word} ", letters_apart(word)
    own = len({padded[place : place + 3] for place in range(len(word) + 1)})
    shared = own - _ANY_GROUP * apart
    similarity = math.floor(1000 * shared / (len(word) + apart + 1 + _ANY_GROUP * apart)) / 1000
    return similarity if apart and similarity * own > 1 else None


def similar_words(schema: str, words: Mapping[str, str], hidden: bool, max_bucket: int) -> list[tuple[str, list[Any]]]:
    """Statements, to be sent together, the last of which finds words of names that may be misspelt as these are.

    `schema` is that of the extension. All words, given with their form without accents, have a `min_similarity`. Those
    that are in a name are left out, unless names may be hidden.
    """
    limit = min(similarity for plain in words.values() if (similarity := min_similarity(plain)) is not None)
    quoted = '"' + schema.replace('"', '""').replace("%", "%%") + '"'
    buckets = sorted({bucket for word in words for bucket in buckets_near(word)})
    return [
        ("SELECT set_config('pg_trgm.similarity_threshold', %s, false)", [str(limit)]),
        (_SIMILAR.replace("{schema}", quoted), [list(words), list(words.values()), hidden, buckets, max_bucket]),
    ]


def _has_index(connection: Connection[Any], schema: str) -> bool:
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pg_indexes WHERE schemaname = %s AND indexname = 'vocabulary_trigrams')", [schema]
    ).fetchone()
    return bool(row and row[0])


def _obstacle(connection: Connection[Any]) -> str | None:
    """Why there can be no extension; to try in vain each time would fill the log of the server."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'), "
        "EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'), "
        "has_database_privilege(current_database(), 'CREATE')"
    ).fetchone()
    is_there, is_available, is_allowed = row or (False, False, False)
    if is_there or (is_available and is_allowed):
        return None
    return "permission denied to create the extension pg_trgm" if is_available else "the server has no pg_trgm"


def _make_once(connection: Connection[Any], schema: str) -> None:
    with connection.transaction():
        # one process at a time makes it, and the others find it made
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('hopweave pg_trgm', 0))")
        if not _has_index(connection, schema):
            _make(connection, schema)


def _make(connection: Connection[Any], schema: str) -> None:
    row = connection.execute(
        "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm'"
    ).fetchone()
    if row is None:
        # in a schema of its own with the graph, another graph of the database would lose it with that
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public")
    statement = "CREATE INDEX vocabulary_trigrams ON {}.vocabulary USING gin (plain {}.gin_trgm_ops) {}"
    fast_update = sql.SQL("WITH (fastupdate = off)")
    names = sql.Identifier(schema), sql.Identifier(row[0] if row else "public"), fast_update
    connection.execute(sql.SQL(statement).format(*names))
