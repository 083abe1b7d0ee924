"""The tables of a graph in PostgreSQL, their version, and how older ones are brought up to date.

All tables lie in one schema, so one database can hold several graphs. Everything that depends on the whole corpus is a
sum on a row, as in `graph/storage/tables.py`; weights of mentions are computed from these sums when edges are read.
"""

from collections.abc import Callable
from typing import Any

from psycopg import Connection, sql

from hopweave.graph_store.backend import KnowledgeBaseError, NewerSchema, without_accents
from hopweave_postgres import trigrams

SCHEMA_VERSION = 5

_TABLES = """
CREATE TABLE state (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL DEFAULT 0,
    documents integer NOT NULL DEFAULT 0,
    nodes integer NOT NULL DEFAULT 0,
    words integer NOT NULL DEFAULT 0,
    names integer NOT NULL DEFAULT 0,
    passages integer NOT NULL DEFAULT 0,
    kinds text[] NOT NULL DEFAULT ARRAY[''],
    edge_types text[] NOT NULL DEFAULT '{}',
    settings jsonb NOT NULL
);
CREATE TABLE documents (
    node integer PRIMARY KEY,
    id text NOT NULL UNIQUE,
    source text NOT NULL,
    metadata jsonb NOT NULL,
    digest bytea NOT NULL,
    payload bytea NOT NULL,
    words integer[] NOT NULL,
    names integer[] NOT NULL,
    mentions bytea NOT NULL,
    nearby bytea NOT NULL
);
CREATE INDEX documents_words ON documents USING gin (words) WITH (fastupdate = off);
CREATE INDEX documents_names ON documents USING gin (names) WITH (fastupdate = off);
CREATE INDEX documents_source ON documents (source) WHERE source <> '';
CREATE INDEX documents_metadata ON documents USING gin (metadata jsonb_path_ops) WITH (fastupdate = off);
CREATE TABLE words (
    id integer PRIMARY KEY,
    text text COLLATE "C" NOT NULL UNIQUE,
    lower_case integer NOT NULL,
    upper_case integer NOT NULL,
    near_documents integer NOT NULL,
    documents integer NOT NULL
);
CREATE INDEX words_near ON words (left(text, 4)) WHERE near_documents > 0;
CREATE TABLE nodes (
    id integer PRIMARY KEY,
    key text COLLATE "C" NOT NULL UNIQUE,
    kind smallint NOT NULL,
    flags smallint NOT NULL,
    topic boolean NOT NULL DEFAULT false,
    about integer NOT NULL,
    sure integer NOT NULL,
    passages integer NOT NULL,
    declared integer NOT NULL,
    document smallint NOT NULL,
    edge_ends integer NOT NULL,
    leads_to integer NOT NULL,
    edges integer NOT NULL,
    name_hash bigint NOT NULL,
    name_key text COLLATE "C",
    description text NOT NULL
);
CREATE INDEX nodes_name ON nodes (name_key) WHERE name_key IS NOT NULL;
CREATE INDEX nodes_searched ON nodes (name_hash) WHERE (flags & 4) > 0;
CREATE TABLE name_words (
    word text COLLATE "C" NOT NULL,
    node integer NOT NULL,
    length smallint,
    PRIMARY KEY (word, node)
);
CREATE INDEX name_words_node ON name_words (node);
CREATE TABLE spellings (
    node integer NOT NULL,
    text text COLLATE "C" NOT NULL,
    mentions integer NOT NULL,
    about integer NOT NULL,
    declared integer NOT NULL,
    PRIMARY KEY (node, text)
);
CREATE TABLE declared (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node integer NOT NULL,
    document integer NOT NULL,
    payload text NOT NULL,
    spelling text
);
CREATE INDEX declared_node ON declared (node);
CREATE INDEX declared_document ON declared (document);
CREATE TABLE stated (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document integer NOT NULL,
    source integer NOT NULL,
    target integer NOT NULL,
    source_text text,
    target_text text,
    type smallint NOT NULL,
    weight double precision NOT NULL,
    label text,
    flags smallint NOT NULL,
    start_node integer NOT NULL,
    end_node integer NOT NULL
);
CREATE INDEX stated_document ON stated (document);
CREATE INDEX stated_source ON stated (source);
CREATE INDEX stated_target ON stated (target);
CREATE INDEX stated_ends ON stated (start_node, end_node) WHERE start_node >= 0;
CREATE INDEX stated_end ON stated (end_node) WHERE end_node >= 0;
CREATE TABLE edges (
    src integer NOT NULL,
    dst integer NOT NULL,
    code smallint NOT NULL,
    weight double precision NOT NULL,
    copies integer NOT NULL,
    PRIMARY KEY (src, dst, code, weight) INCLUDE (copies)
);
CREATE TABLE near (
    word integer NOT NULL,
    node integer NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (word, node) INCLUDE (passages)
);
"""

_STAGED = """
CREATE TABLE staged (
    job text NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    metadata jsonb NOT NULL,
    digest bytea NOT NULL,
    payload bytea NOT NULL
);
CREATE INDEX staged_job ON staged (job, id)
"""

_VOCABULARY = """
CREATE TABLE vocabulary (
    word text COLLATE "C" PRIMARY KEY,
    plain text COLLATE "C" NOT NULL,
    bucket text COLLATE "C" NOT NULL
);
CREATE INDEX vocabulary_bucket ON vocabulary (bucket, word)
"""
"""The words of names, each once; `plain` is without accents, `bucket` its first letter and length."""


def _gather_vocabulary(connection: Connection[Any], schema: str) -> None:
    _run(connection, schema, _VOCABULARY)
    found = connection.execute("SELECT DISTINCT word, bucket FROM name_words WHERE bucket IS NOT NULL").fetchall()
    with connection.cursor().copy("COPY vocabulary (word, plain, bucket) FROM STDIN") as copy:
        for word, bucket in found:
            copy.write_row((word, without_accents(word), bucket))
    _run(connection, schema, "ALTER TABLE name_words DROP COLUMN bucket")


_COUNT_EDGE_ENDS = """
UPDATE nodes SET edge_ends = (
    SELECT count(*) FROM (SELECT document, source AS node, flags FROM stated
        UNION ALL SELECT document, target, flags FROM stated) e
    WHERE e.node = nodes.id AND e.flags & 2 = 0 AND NOT EXISTS (
        SELECT 1 FROM edges m WHERE m.src = e.document AND m.dst = nodes.id AND m.code & 3 = 1))
WHERE edge_ends > 0
"""
"""Edges of a name that a document states which mentions the name are not counted any more."""

_MIGRATIONS: dict[int, Callable[[Connection[Any], str], None]] = {
    1: lambda connection, schema: _run(connection, schema, _STAGED),
    2: _gather_vocabulary,
    3: lambda connection, schema: _run(connection, schema, _COUNT_EDGE_ENDS),
    4: lambda connection, schema: _run(connection, schema, "ALTER TABLE state DROP COLUMN titled"),
}
"""What brings a schema of this version to the next."""


def prepare(connection: Connection[Any], schema: str, settings: str, where: str) -> None:
    """Make the tables of a graph, or bring them up to date, in the transaction of the connection.

    Raises `NewerSchema` for tables of a newer hopweave, before anything is changed.
    """
    found = version_of(connection, schema)
    if found is None:
        # two processes may make it at the same moment: the second waits for the first and finds it made
        connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"hopweave {schema}"])
        found = version_of(connection, schema)
    if found is None:
        _create(connection, schema, settings)
    elif found > SCHEMA_VERSION:
        raise NewerSchema(
            f"{where}: has graph schema {found}, but this hopweave reads schemas up to {SCHEMA_VERSION}; "
            "upgrade with: pip install --upgrade hopweave"
        )
    elif found < SCHEMA_VERSION:
        _migrate(connection, schema, found)
    trigrams.prepare(connection, schema, where)


def version_of(connection: Connection[Any], schema: str) -> int | None:
    """The version of the tables in a schema; None if there are none.

    A schema that holds tables of another program is refused.
    """
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace'), "
        "EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relkind = 'r') "
        "FROM pg_namespace n WHERE nspname = %s",
        [schema],
    ).fetchone()
    comment, holds_tables = row or (None, False)
    if comment is not None and comment.startswith(_MARK):
        return int(comment.removeprefix(_MARK))
    if holds_tables:
        raise KnowledgeBaseError(f"schema {schema!r} holds tables of another program, not a hopweave graph")
    return None


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can hold a text: not with a NUL character or half a surrogate pair.

    >>> is_storable("Łódź"), is_storable("a" + chr(0)), is_storable(chr(0xD800))
    (True, False, False)
    """
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_MARK = "hopweave graph, schema "


def _create(connection: Connection[Any], schema: str, settings: str) -> None:
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [schema]).fetchone() is None:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    _run(connection, schema, _TABLES)
    _run(connection, schema, _STAGED)
    _run(connection, schema, _VOCABULARY)
    connection.execute(
        sql.SQL("INSERT INTO {}.state (settings) VALUES (%s::jsonb)").format(sql.Identifier(schema)), [settings]
    )
    _mark(connection, schema)


def _migrate(connection: Connection[Any], schema: str, version: int) -> None:
    connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"hopweave {schema}"])
    for number in range(version_of(connection, schema) or version, SCHEMA_VERSION):
        _MIGRATIONS[number](connection, schema)
    _mark(connection, schema)


def _run(connection: Connection[Any], schema: str, statements: str) -> None:
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(sql.Identifier(schema)))
    for statement in statements.strip().split(";\n"):
        connection.execute(statement.encode())


def _mark(connection: Connection[Any], schema: str) -> None:
    comment = sql.Literal(f"{_MARK}{SCHEMA_VERSION}")
    connection.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(schema), comment))
