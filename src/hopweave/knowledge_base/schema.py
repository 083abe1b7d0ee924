"""The tables of a knowledge base file, how such a file is recognised, and the digests of what it holds.

A file from elsewhere might hold a view in place of a table, or a trigger, that does something else than it should. So
its schema is compared with the one that hopweave makes.
"""

import os
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from hopweave.concurrency.once import once
from hopweave.errors import EmptyFile, KnowledgeBaseBusy, KnowledgeBaseError, NewerSchema
from hopweave.graph.storage.ledger import TABLES as GRAPH_TABLES
from hopweave.knowledge_base.locks import Connection, has_log, open_connection


def digest_of(*parts: str | bytes) -> bytes:
    """The digest of some content, in 16 bytes.

    >>> len(digest_of("text", "{}"))
    16
    """
    digest = blake2b(digest_size=16)
    for part in (part.encode() if isinstance(part, str) else part for part in parts):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def vector_digest(model: str, row: int, vector: bytes) -> bytes:
    """The digest of a stored vector and of what it belongs to.

    >>> vector_digest("m", 1, bytes(4)) == vector_digest("m", 2, bytes(4))
    False
    """
    return digest_of(model, str(row), vector)


def vector_columns(row: int, model: str, vector: bytes) -> tuple[str, int, bytes, bytes]:
    """A vector as a row of the table of vectors."""
    return model, row, vector, vector_digest(model, row, vector)


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


SCHEMA_VERSION = 4
_WORDS = "unicode61 remove_diacritics 2"
_ENGLISH_WORDS = f"porter {_WORDS}"  # M. F. Porter (1980), An algorithm for suffix stripping
_APPLICATION_ID = 0x686F7077  # "hopw", so that other programs can recognise the file

_FOR_EVERY_CONNECTION = """
PRAGMA synchronous = FULL; PRAGMA cache_size = -8192;
PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON;
"""
_NO_PLACE_TO_WRITE = (sqlite3.SQLITE_READONLY_DIRECTORY, sqlite3.SQLITE_READONLY_CANTINIT, sqlite3.SQLITE_CANTOPEN)

# Rows are never reused: an updated document gets a new row. Whoever holds an index can then catch up by reading the
# rows beyond the last one it knows and dropping those that were `removed` since its version. Removals up to the version
# `cleared` are forgotten: every image is younger. "IF NOT EXISTS" because two processes may create the file at the
# same moment.
_TABLES = f"""
CREATE TABLE IF NOT EXISTS state (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    version INTEGER NOT NULL,
    cleared INTEGER NOT NULL DEFAULT 0
);
INSERT OR IGNORE INTO state (only, version) VALUES (1, 0);

CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS documents (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    metadata TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector_digest BLOB NOT NULL,
    source TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS documents_source ON documents (source) WHERE source <> '';

CREATE TABLE IF NOT EXISTS terms (
    analyzer TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,
    keys BLOB NOT NULL,
    counts BLOB NOT NULL,
    PRIMARY KEY (analyzer, row)
);
CREATE INDEX IF NOT EXISTS terms_row ON terms (row);

CREATE TABLE IF NOT EXISTS vectors (
    model TEXT NOT NULL,
    row INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    digest BLOB NOT NULL DEFAULT x'',
    PRIMARY KEY (model, row)
);
CREATE INDEX IF NOT EXISTS vectors_row ON vectors (row);

CREATE TABLE IF NOT EXISTS removed (version INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (version, row))
WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS images (
    name TEXT PRIMARY KEY,
    file TEXT NOT NULL,
    checksum TEXT NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    size INTEGER NOT NULL
) WITHOUT ROWID;

CREATE VIRTUAL TABLE IF NOT EXISTS full_text USING fts5 (
    title, text, content = 'documents', content_rowid = 'row', tokenize = '{_WORDS}'
);
CREATE TRIGGER IF NOT EXISTS documents_added AFTER INSERT ON documents BEGIN
    INSERT INTO full_text (rowid, title, text) VALUES (new.row, new.title, new.text);
END;
CREATE TRIGGER IF NOT EXISTS documents_gone AFTER DELETE ON documents BEGIN
    INSERT INTO full_text (full_text, rowid, title, text) VALUES ('delete', old.row, old.title, old.text);
    INSERT INTO removed SELECT version + 1, old.row FROM state;
END;
"""

# From schema 1: removals were not noted, contributions had no sequence, and HNSW graphs were kept as blobs.
_FROM_SCHEMA_1 = """
ALTER TABLE state ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;
UPDATE state SET version = version + 1, cleared = version + 1;
DROP TRIGGER documents_gone;
DROP TABLE approximate_indexes;
ALTER TABLE graph_contributions RENAME TO graph_contributions_1;
"""
_CONTRIBUTIONS_FROM_SCHEMA_1 = """
INSERT INTO graph_contributions (document_id, digest, payload)
SELECT document_id, digest, payload FROM graph_contributions_1 ORDER BY document_id;
DROP TABLE graph_contributions_1;
"""
# From schema 2: documents did not say where they came from.
_FROM_SCHEMA_2 = """
ALTER TABLE documents ADD COLUMN source TEXT NOT NULL DEFAULT '';
"""
# From schema 3: vectors had no digest, and images did not say which state they hold.
_FROM_SCHEMA_3 = """
ALTER TABLE vectors ADD COLUMN digest BLOB NOT NULL DEFAULT x'';
UPDATE vectors SET digest = vector_digest(model, row, vector);
DROP TABLE IF EXISTS images;
"""


def connect(path: Path, *, busy_seconds: float, read_only: bool, file: Path | None = None) -> Connection:
    """A connection to a knowledge base file, which need not exist unless it is only to be read.

    Errors name the path; what is opened is `file`, if it is given.
    """
    file = path if file is None else file
    try:
        connection = open_connection(file, timeout=busy_seconds, read_only=read_only)
        try:
            connection.executescript(_FOR_EVERY_CONNECTION)
            connection.execute("PRAGMA user_version")  # the first look at the file
        except BaseException:
            connection.close()
            raise
        return connection
    except sqlite3.DatabaseError as error:
        if read_only and error.sqlite_errorcode in _NO_PLACE_TO_WRITE and has_log(file):
            raise KnowledgeBaseError(
                f"{path}: its log ({path.name}-wal) holds changes that cannot be read from a folder that one cannot "
                "write to; open it once where one can, or while the process that writes it has it open"
            ) from error
        raise explained(path, error) from error


def prepare(connection: sqlite3.Connection, path: Path, *, busy_seconds: float, read_only: bool) -> None:
    """Make sure the file is ours and not from the future, before anything in it is changed.

    A new file gets tables; one of an older schema is brought to the current one.
    """
    try:
        connection.execute("BEGIN")  # another process may be making the file at this moment
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        new = version == 0 and not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        connection.execute("ROLLBACK")
        if new and not read_only:
            _write_ahead(connection, monotonic() + busy_seconds)
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} {GRAPH_TABLES}; PRAGMA application_id = {_APPLICATION_ID}; "
                f"PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;"
            )
            return
    except sqlite3.DatabaseError as error:
        raise explained(path, error) from error
    if new:
        raise EmptyFile(f"{path}: is empty; nothing has been indexed yet")
    if application != _APPLICATION_ID:
        raise KnowledgeBaseError(f"{path}: is a database of another program, not a hopweave knowledge base")
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            f"{path}: has schema {version}, but this hopweave reads schemas up to {SCHEMA_VERSION}; "
            "upgrade with: pip install --upgrade hopweave"
        )
    if version < SCHEMA_VERSION:
        if read_only:
            raise KnowledgeBaseError(
                f"{path}: has schema {version}, and this hopweave reads schema {SCHEMA_VERSION}; "
                f"open it once for writing to bring it up to date, for example with: hopweave compact --kb {path}"
            )
        _migrate(connection, path)
    _check_objects(connection, path)


def stem_full_text(connection: sqlite3.Connection) -> None:
    """Let the full-text index of a new file find English words in any form, inside the caller's transaction."""
    connection.execute("DROP TABLE full_text")
    made = next(one for one in _each(_TABLES.replace(_WORDS, _ENGLISH_WORDS)) if "USING fts5" in one)
    connection.execute(made)


def tokenizer_of(connection: sqlite3.Connection) -> str:
    """How the full-text index of a file splits text into words; either way is hopweave's."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'full_text'").fetchone()
    return _ENGLISH_WORDS if found and f"'{_ENGLISH_WORDS}'" in str(found[0]) else _WORDS


def _check_objects(connection: sqlite3.Connection, path: Path) -> None:
    try:
        connection.execute("BEGIN")  # another process may be settling the tokenizer of a new file at this moment
        tables = _TABLES.replace(_WORDS, tokenizer_of(connection))
        wrong = sorted(wrong_objects(connection, f"{tables} {GRAPH_TABLES}"))
        connection.execute("ROLLBACK")
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise KnowledgeBaseError(f"{path}: its schema cannot be read: {error}") from error
    if wrong:
        raise KnowledgeBaseError(
            f"{path}: is damaged, or was changed by another program: its schema is not hopweave's, see {wrong[0]}"
        )


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    try:
        connection.create_function("vector_digest", 3, vector_digest, deterministic=True)
        connection.execute("BEGIN IMMEDIATE")
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version < SCHEMA_VERSION:  # else another process was first
            steps = (_FROM_SCHEMA_1, _FROM_SCHEMA_2, _FROM_SCHEMA_3)[max(version - 1, 0) :]
            after = _CONTRIBUTIONS_FROM_SCHEMA_1 if version == 1 else ""
            for statements in (*steps, _TABLES, GRAPH_TABLES, after):
                for statement in _each(statements):
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except sqlite3.DatabaseError as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise explained(path, error) from error


def _each(statements: str) -> Iterator[str]:
    # one by one, as a script would end the transaction
    statement = ""
    for line in statements.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _write_ahead(connection: sqlite3.Connection, deadline: float) -> None:
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:  # SQLite does not wait here when others create the file at the same moment
            if monotonic() > deadline:
                raise
            sleep(0.01)
        else:
            return


def explained(path: Path, error: sqlite3.Error) -> KnowledgeBaseError:
    """What SQLite complains of, in words a user can act on.

    >>> explained(Path("a.db"), sqlite3.OperationalError("disk I/O error"))
    KnowledgeBaseError('a.db: disk I/O error')
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF  # the rest is a finer distinction
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return KnowledgeBaseBusy(f"{path}: another process is writing and did not finish in time")
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) and (reason := _obstacle(path)):
        return KnowledgeBaseError(f"{path}: {reason}")
    if code == sqlite3.SQLITE_CANTOPEN:
        return KnowledgeBaseError(f"{path}: cannot be opened: {error}")
    if code == sqlite3.SQLITE_NOTADB:
        return KnowledgeBaseError(f"{path}: is not a hopweave knowledge base: {error}")
    return KnowledgeBaseError(f"{path}: {error}")


def _obstacle(path: Path) -> str:
    """What the file system has against opening a file for writing; nothing if that is not the reason."""
    if not path.parent.is_dir():
        return "cannot be opened: its folder does not exist"
    of_another = "is read-only, or cannot be written by this user"
    if not path.exists():
        return "" if os.access(path.parent, os.W_OK) else f"cannot be made: its folder {of_another}"
    for place, what in ((path.parent, "its folder"), (path, "it")):
        if not os.access(place, os.W_OK):
            return f"cannot be written: {what} {of_another}; to search it, open it with read_only=True"
    return ""
