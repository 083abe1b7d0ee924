"""Putting the content of another file in the place of this one's, while others read and write it.

SQLite's backup copies pages in one transaction, so that readers see the old content or the new one. What processes keep
in memory must not be taken for part of the new content: it gets a version above all there were, and nothing that is
older can be followed to it. The index images of either file are not its own, so it begins without any.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from uuid import uuid4

from hopweave.errors import KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.check import problems
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.locks import file_at
from hopweave.knowledge_base.schema import explained
from hopweave.knowledge_base.settings import Settings, read_settings, write_settings
from hopweave.storage.images import TEMPORARY

RESTORED = "restored"
"""A setting that no two contents of a file share, if it was ever restored."""

_SETTLED = ("embedder", "model", "analyzers", "graph", "own_share")  # what processes that have a file open rely on
_PAGES_AT_ONCE = 256


@contextmanager
def sound_copy(connections: Connections, settings: Settings, file: Path, folder: Path) -> Iterator[sqlite3.Connection]:
    """A copy of another file, in a folder, to be changed and copied from; an error if it must not be restored.

    The name of the copy is that of an unfinished image, so that a compaction removes it if this process is killed.
    """
    if file_at(file) == file_at(connections.file):
        raise KnowledgeBaseError(f"{file}: is {connections.path} itself, not a file to restore it from")
    copy = folder / f"restore-{uuid4().hex[:12]}{TEMPORARY}"
    try:
        with closing(Connections(file, busy_seconds=connections.busy_seconds, read_only=True)) as other:
            with connections.reading() as connection:
                wanted = read_settings(connection, connections.path)
            with other.reading() as connection:
                _check_settings(connections.path, wanted, file, read_settings(connection, file))
                if found := problems(connection, file, settings):
                    raise KnowledgeBaseError(f"{file}: is damaged; hopweave check lists all damage: {found[0]}")
                made = sqlite3.connect(copy, isolation_level=None, check_same_thread=False)
                try:
                    made.execute("PRAGMA locking_mode = EXCLUSIVE")
                    made.execute("PRAGMA synchronous = OFF")
                    connection.backup(made)
                    made.execute("PRAGMA journal_mode = MEMORY")
                except BaseException:
                    made.close()
                    raise
        with closing(made):
            yield made
    finally:
        for end in ("", "-wal", "-shm", "-journal"):
            Path(f"{copy}{end}").unlink(missing_ok=True)


def put_in_place(connections: Connections, copy: sqlite3.Connection) -> None:
    """Make a copy the content of the file, in one transaction, once no other process writes."""
    deadline = monotonic() + connections.busy_seconds
    renewed = False

    def step(status: int, *_: int) -> None:
        nonlocal renewed
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if monotonic() > deadline:
                raise KnowledgeBaseBusy(f"{connections.path}: another process is writing and did not finish in time")
        elif not renewed:  # from the first step on, nobody else writes, so what is read here stays the latest
            renewed = True
            with connections.reading() as live:
                _renew(copy, live)

    with connections.autocommit_read() as connection:
        try:
            copy.backup(connection, pages=_pages_at_once(copy), progress=step, sleep=0.05)
        except sqlite3.Error as error:
            raise explained(connections.path, error) from error


def _pages_at_once(copy: sqlite3.Connection) -> int:
    """Not all in the first step, as the copy changes after it."""
    pages = int(copy.execute("PRAGMA page_count").fetchone()[0])
    return max(min(_PAGES_AT_ONCE, pages // 2), 1)


def _renew(copy: sqlite3.Connection, live: sqlite3.Connection) -> None:
    """Number the content of a copy beyond that of the live file, and forget its images."""

    def latest(ask: Callable[[sqlite3.Connection], int]) -> int:
        return max(ask(copy), ask(live)) + 1

    version, sequence = latest(_version), latest(ledger.last_sequence)
    copy.execute("BEGIN")
    copy.execute("UPDATE state SET version = ?, cleared = ?", (version, version))
    copy.execute("DELETE FROM removed")
    copy.execute("DELETE FROM images")
    copy.execute("DELETE FROM graph_contributions WHERE digest IS NULL")
    copy.execute("UPDATE graph_state SET cleared = ?", (sequence,))
    copy.execute("DELETE FROM sqlite_sequence WHERE name = 'graph_contributions'")
    copy.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('graph_contributions', ?)", (sequence,))
    write_settings(copy, {RESTORED: uuid4().hex})
    copy.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT version FROM state").fetchone()[0])


def _check_settings(path: Path, wanted: dict[str, object], file: Path, found: dict[str, object]) -> None:
    """Processes that have the file open would go on with the settings that they read when they opened it."""
    if other := [name for name in _SETTLED if wanted.get(name) != found.get(name)]:
        raise KnowledgeBaseError(
            f"{file}: was made with other settings than {path} ({', '.join(other)}), which processes that have it open "
            "would not notice; stop them and put the file in its place"
        )
