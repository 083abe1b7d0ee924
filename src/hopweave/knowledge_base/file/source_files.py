"""The sources of documents, such as files, and where those files were.

Sources and ids are relative, so that they stay the same when a folder moves. What is noted here tells two files of
one name apart. The table is made when first needed: knowledge bases that programs fill do not have it.
"""

import os
import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hopweave.knowledge_base.connections import grouped

_TABLE = """
CREATE TABLE IF NOT EXISTS source_files (source TEXT PRIMARY KEY, file TEXT NOT NULL, folder TEXT NOT NULL)
WITHOUT ROWID
"""
# the second condition lets SQLite use the index, which leaves out documents without a source
_UNUSED = "NOT EXISTS (SELECT 1 FROM documents WHERE documents.source = source_files.source AND documents.source <> '')"


class SourceFile(NamedTuple):
    """The file of a source, and the folder that its name is relative to, if any, as absolute paths."""

    file: str
    folder: str = ""


def read_source_files(connection: sqlite3.Connection) -> dict[str, SourceFile]:
    """The file of each source that has documents, as far as it was noted."""
    if not _exists(connection):
        return {}
    rows = connection.execute(f"SELECT source, file, folder FROM source_files WHERE NOT {_UNUSED}")
    return {str(source): SourceFile(os.fsdecode(file), os.fsdecode(folder)) for source, file, folder in rows}


def write_source_files(connection: sqlite3.Connection, files: Mapping[str, SourceFile]) -> None:
    """Note files in place of what was noted of these sources, and forget those that have no documents any more."""
    connection.execute(_TABLE)
    connection.execute(f"DELETE FROM source_files WHERE {_UNUSED}")
    connection.executemany(
        "INSERT OR REPLACE INTO source_files VALUES (?, ?, ?)",
        [(source, *map(_path, one)) for source, one in files.items() if isinstance(_path(source), str)],
    )


def forget_source_files(connection: sqlite3.Connection, sources: Iterable[str]) -> None:
    """Forget the files of those among these sources that have no documents any more."""
    if _exists(connection):
        connection.executemany(
            f"DELETE FROM source_files WHERE source = ? AND {_UNUSED}",
            [(source,) for source in sources],
        )


def sources_of(connection: sqlite3.Connection, ids: Iterable[str]) -> dict[str, str]:
    """The source of each of these documents, as far as they are there, in the order given."""
    ids, found = list(ids), dict[str, str]()
    for marks, group in grouped(ids):
        found.update(connection.execute(f"SELECT id, source FROM documents WHERE id IN ({marks})", group).fetchall())
    return {key: found[key] for key in ids if key in found}


def _path(text: str) -> str | bytes:
    """A path as it is stored: as bytes if it is not Unicode, as no source can be that has documents."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text)
    return text


def _exists(connection: sqlite3.Connection) -> bool:
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'source_files'")
    return found.fetchone() is not None
