"""Compaction: new index images beside the old ones, swapped in by one transaction.

Killed at any moment, it leaves the old images, or the new ones, and perhaps files that no table names, which the next
compaction removes. Readers go on with the image they have mapped, and follow when they next look at the file.
"""

import logging
import sqlite3
from dataclasses import dataclass, field
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

from hopweave.errors import KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.file.fork import ForkAware, watch_forks
from hopweave.knowledge_base.file.stored_settings import read_settings, write_settings
from hopweave.knowledge_base.indexes.images import Noted, clear_removed, noted, replace
from hopweave.knowledge_base.indexes.live_index import Held, LiveIndex
from hopweave.knowledge_base.indexes.snapshot import Snapshot, View, version_of

_log = logging.getLogger(__name__)

_SHARE = 0.1  # of an index that has changed, from which a new image is worth its making
_MIN_CHANGES = 1000  # below this the rows are read as quickly as an image
_MERGE_PAGES = 100  # of the full-text index, in one transaction
_PAUSE_SECONDS = 0.01  # between such transactions: a lock that is taken again at once is not given to those who wait


_SCRUBBED = "scrubbed"  # a setting: the version of the file in which nothing was left of deleted documents
# numbers are never used twice, so as many were removed as there are numbers without a row
_EVER_REMOVED = """
SELECT max(seq > CASE name WHEN 'documents' THEN (SELECT count(*) FROM documents)
                           ELSE (SELECT count(*) FROM graph_contributions) END)
FROM sqlite_sequence WHERE name IN ('documents', 'graph_contributions')
"""


@dataclass(slots=True, eq=False)
class Compaction(ForkAware):
    """Decides when the images of a file are made again, and makes them."""

    connections: Connections
    snapshot: Snapshot
    _lock: Lock = field(default_factory=Lock)
    _thread: Thread | None = None

    def __post_init__(self) -> None:
        watch_forks(self)

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, there is no compaction in the background."""
        if in_child:
            self._lock, self._thread = Lock(), None

    def start_if_needed(self) -> None:
        """Compact in the background if enough has changed and nobody is at it."""
        with self.connections.reading() as connection:
            due = any(self._due(index, connection) for index in self.snapshot.persisted(connection))
        if not due:
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                # no daemon: a program that ends waits for it, as otherwise short-lived programs would never compact
                self._thread = Thread(target=self._in_background, name="hopweave-compaction")
                self._thread.start()

    def wait(self) -> None:
        """Wait until a compaction in the background has ended."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def is_needed(self) -> bool:
        """Whether an image is missing or too old, once a compaction in the background has ended."""
        self.wait()
        with self.connections.reading() as connection:
            indexes = self.snapshot.persisted(connection)
            return any(noted(connection, one.name) is None or self._due(one, connection) for one in indexes)

    def run(self, *, rebuild: bool = False) -> None:
        """Make all images anew, if need be from the rows alone, and remove what deleted documents have left."""
        if self.connections.pin is not None:
            raise KnowledgeBaseError(f"{self.connections.path}: cannot be compacted here, where a search is under way")
        self.wait()
        deadline = monotonic() + self.connections.busy_seconds
        while True:
            with self.snapshot.folder.locked() as mine:
                if mine:
                    self._write_images(every=True, rebuild=rebuild)
                    self._merge_full_text()
                    self._scrub()
                    break
            if monotonic() > deadline:
                raise KnowledgeBaseBusy(f"{self.connections.path}: another process is compacting it")
            sleep(0.05)
        self._empty_log(deadline)

    def _due(self, index: LiveIndex[Any], connection: sqlite3.Connection) -> bool:
        image = noted(connection, index.name)
        changes = index.changes(connection, image)
        return changes >= max(_MIN_CHANGES, _SHARE * (image.size if image else 0))

    def _in_background(self) -> None:
        try:
            with self.snapshot.folder.locked() as mine:
                if mine:
                    self._write_images(every=False)
        except (KnowledgeBaseError, OSError) as error:  # the images are a convenience: without them rows are read
            _log.warning("%s: its index images could not be written: %s", self.connections.path, error)

    def _write_images(self, *, every: bool, rebuild: bool = False) -> None:
        with self.connections.reading() as connection:
            indexes = self.snapshot.persisted(connection)
            wanted = [index for index in indexes if every or self._due(index, connection)]
        images = [self._write_image(index, rebuild) for index in wanted]
        with self.connections.writing(same_content=True) as connection:
            for image in images:
                replace(connection, image)
            clear_removed(connection)
            graph = noted(connection, "graph")
            if graph:
                ledger.clear_removed(connection, graph.position)
        for index, image in zip(wanted, images, strict=True):
            self.snapshot.adopt(index, image)
        with self.connections.reading() as connection:
            self.snapshot.folder.remove_leftovers(connection)

    def _write_image(self, index: LiveIndex[Any], rebuild: bool) -> Noted:
        def held_at(view: View) -> Held[Any]:
            if rebuild:
                value, position = index.followed(Held(index.empty(), 0, 0), view.connection)
                return Held(value, view.version, position)
            if index.private:
                return index.for_image(view.version, view.connection, self.snapshot.folder)
            return self.snapshot.held(index, view.connection, view.version)

        held = self.snapshot.at_one_version(held_at)
        header, arrays = index.arrays(held.value)
        return self.snapshot.folder.write(
            index.name,
            {**header, "format": index.format_version},
            arrays,
            version=held.version,
            position=held.position,
            size=index.size(held.value),
        )

    def _merge_full_text(self) -> None:
        """Merge the segments of the full-text index into one, which drops the words of deleted documents.

        In steps, so that other writers wait no longer than for one of them.
        """
        pages = -_MERGE_PAGES  # a negative number starts the merging of all segments
        while True:
            with self.connections.writing(same_content=True) as connection:
                before = connection.total_changes
                connection.execute("INSERT INTO full_text (full_text, rank) VALUES ('merge', ?)", (pages,))
                if connection.total_changes - before < 2:  # as FTS5 documents the end of the work
                    return
            pages = _MERGE_PAGES
            sleep(_PAUSE_SECONDS)

    def _scrub(self) -> None:
        """Write the file anew if something was deleted since the last time.

        SQLite overwrites what it frees, but not what is left of a row when pages are filled otherwise.
        """
        path = self.connections.path
        with self.connections.reading() as connection:
            version, ever_removed = version_of(connection), connection.execute(_EVER_REMOVED).fetchone()[0]
            if not ever_removed or read_settings(connection, path).get(_SCRUBBED) == version:
                return
        with self.connections.autocommit_read() as connection:
            connection.execute("VACUUM")
        with self.connections.writing(same_content=True) as connection:
            write_settings(connection, {_SCRUBBED: version})

    def _empty_log(self, deadline: float) -> None:
        """Bring the write-ahead log into the file and cut it to nothing, once no reader needs it any more."""
        while True:
            with self.connections.autocommit_read() as connection:
                busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not busy:
                return
            if monotonic() > deadline:
                raise KnowledgeBaseBusy(
                    f"{self.connections.path}: is compacted, but a reader keeps its log in use; compact again"
                )
            sleep(0.05)
