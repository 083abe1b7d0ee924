"""Compaction: new index images beside the old ones, swapped in by one transaction.

Killed at any moment, it leaves the old images, or the new ones, and perhaps files that no table names, which the next
compaction removes. Readers go on with the image they have mapped, and follow when they next look at the file.
"""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

from hopweave.errors import InvalidImage, KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.images import Noted, clear_removed, noted, replace
from hopweave.knowledge_base.live_indexes import Held, LiveIndex
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.knowledge_base.settings import read_settings, write_settings
from hopweave.knowledge_base.snapshot import Snapshot

_log = logging.getLogger(__name__)

_MIN_CHANGES = 1000  # below this the rows are read as quickly as an image
_MERGE_PAGES = 100  # of the full-text index, in one transaction
_PAUSE_SECONDS = 0.01  # between such transactions: a lock that is taken again at once is not given to those who wait
_CHECKPOINT_SECONDS = 0.1  # for which readers may hold up the emptying of the log, as writers wait for it meanwhile
_RETRY_SECONDS = 0.25  # longer than SQLite lets a writer sleep (0.1), so that all who wait get their turn in between

_REMOVED_AT_VACUUM = "removed_at_vacuum"  # a setting: how many numbers had no row when the file was last written anew
# Numbers are never used twice, so those without a row are of documents that were deleted or replaced. Graph entries
# that were taken out count as none, as a compaction drops them.
_REMOVED = """
SELECT coalesce(sum(seq), 0) - (SELECT count(*) FROM documents) - (SELECT count(*) FROM graph_contributions)
       + (SELECT count(*) FROM graph_contributions WHERE digest IS NULL)
FROM sqlite_sequence WHERE name IN ('documents', 'graph_contributions')
"""


@dataclass(slots=True, eq=False)
class Compaction(ForkAware):
    """Decides when the images of a file are made again, and makes them."""

    connections: Connections
    snapshot: Snapshot
    is_temporary: bool = False
    _lock: Lock = field(default_factory=Lock)
    _thread: Thread | None = None

    def __post_init__(self) -> None:
        watch_forks(self)

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, there is no compaction in the background."""
        if in_child:
            self._lock, self._thread = Lock(), None

    def start_if_needed(self) -> None:
        """Compact in the background if enough has changed, or an image is missing, and nobody is at it.

        A temporary file is not opened again, and all that its images would hold is in memory: it is compacted when
        documents were removed, so that their memory is freed.
        """
        with self.connections.reading() as connection:
            due = any(self._due(index, connection) for index in self.snapshot.persisted(connection))
            due = due and (not self.is_temporary or _removed(connection) >= _MIN_CHANGES)
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

    def deleted_remains(self) -> bool:
        """Whether documents were deleted or replaced since the file was last written anew."""
        with self.connections.reading() as connection:
            settings = read_settings(connection, self.connections.path)
            return bool(_removed(connection) != settings.get(_REMOVED_AT_VACUUM, 0))

    def run(self, *, rebuild: bool = False, if_needed: bool = False, vacuum: bool = False) -> None:
        """Make all images anew, if need be from the rows alone, and the file too if that is asked for."""
        self.wait()
        vacuum = vacuum and (not if_needed or self.deleted_remains())
        if vacuum or not if_needed or self._is_needed():
            self._compact(rebuild, vacuum)
        if self.deleted_remains():
            _log.info(
                "%s: remains of deleted or replaced documents may still be in the file or its images; "
                "compact(vacuum=True) or hopweave compact --vacuum removes them",
                self.connections.path,
            )

    def _is_needed(self) -> bool:
        """Whether an image is missing, unusable or too old."""
        with self.connections.reading() as connection:
            indexes = self.snapshot.persisted(connection)
            return any(self._due(one, connection) or not self._usable(one, connection) for one in indexes)

    def _usable(self, index: LiveIndex[Any], connection: sqlite3.Connection) -> bool:
        image = noted(connection, index.name)
        try:
            return image is not None and bool(index.mapped(image, self.snapshot.folder))
        except InvalidImage:
            return False

    def restore(self, put_in_place: Callable[[Path], None]) -> None:
        """Let `put_in_place` exchange the content of the file, and make its images; it is given a folder to work in."""
        self.wait()
        with self._alone():
            put_in_place(self.snapshot.folder.folder)
            self._try_to_write_images(every=True)
        self._emptied_log()  # if nobody needs it any more

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Until the end, no process makes images."""
        if self.connections.pin is not None:
            raise KnowledgeBaseError(f"{self.connections.path}: cannot be compacted here, where a search is under way")
        deadline = monotonic() + self.connections.busy_seconds
        while True:
            with self.snapshot.folder.locked() as mine:
                if mine:
                    yield
                    return
            if monotonic() > deadline:
                raise KnowledgeBaseBusy(f"{self.connections.path}: another process is compacting it")
            sleep(_RETRY_SECONDS)

    def _compact(self, rebuild: bool, vacuum: bool) -> None:
        with self._alone():
            with self.connections.reading() as connection:  # what is removed from here on may be in the images
                removed = _removed(connection)
            self._write_images(every=True, rebuild=rebuild)
            self._merge_full_text()
            if vacuum:
                self._vacuum()
        self._empty_log()
        if vacuum:  # not before: until then the old pages are in the file, and the new ones in the log
            with self.connections.writing(same_content=True) as connection:
                write_settings(connection, {_REMOVED_AT_VACUUM: removed})
            self._emptied_log()  # of this note alone, so it does not matter if a reader needs it

    def _due(self, index: LiveIndex[Any], connection: sqlite3.Connection) -> bool:
        """Whether enough has changed since an image was made, or it is no longer there."""
        image = noted(connection, index.name)
        if image is not None and self.snapshot.folder.lacks(image):
            return True
        changes = index.changes(connection, image)
        return changes >= max(_MIN_CHANGES, index.due_share * (image.size if image else 0))

    def _in_background(self) -> None:
        try:
            with self.snapshot.folder.locked() as mine:
                if mine:
                    self._try_to_write_images(every=False)
        except (KnowledgeBaseError, OSError) as error:
            self._warn(error)

    def _try_to_write_images(self, *, every: bool) -> None:
        try:
            self._write_images(every=every)
        except (KnowledgeBaseError, OSError) as error:  # the images are a convenience: without them rows are read
            self._warn(error)

    def _warn(self, error: Exception) -> None:
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
        with self.snapshot.view(*([] if rebuild or index.private or index.anew_for_image else [index])) as view:
            if rebuild:
                value, position = index.followed(Held(index.empty(), 0, 0), view.connection)
                held = Held(value, view.version, position)
            elif index.private or index.anew_for_image:
                held = index.for_image(view.version, view.connection, self.snapshot.folder)
            else:
                held = view.held[index.name]
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

    def _vacuum(self) -> None:
        """Write the file anew, for which all other writers wait.

        SQLite overwrites what it frees, but not what is left of a row when pages are filled otherwise.
        """
        with self.connections.autocommit_read() as connection:
            connection.execute("VACUUM")

    def _empty_log(self) -> None:
        """Bring the write-ahead log into the file and cut it to nothing, once no reader needs it any more.

        SQLite lets no one write while it waits for readers, so it does not wait for long.
        """
        deadline = monotonic() + self.connections.busy_seconds
        while not self._emptied_log():
            if monotonic() > deadline:
                raise KnowledgeBaseBusy(
                    f"{self.connections.path}: is compacted, but a reader keeps its log in use, with what it held; "
                    "compact again"
                )
            sleep(_RETRY_SECONDS)

    def _emptied_log(self) -> bool:
        with self.connections.autocommit_read() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # most of it, beside those who write
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * _CHECKPOINT_SECONDS)}")
            try:
                return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            finally:
                connection.execute(f"PRAGMA busy_timeout = {int(1000 * self.connections.busy_seconds)}")


def _removed(connection: sqlite3.Connection) -> int:
    """How many documents and graph entries were ever deleted or replaced, in numbers that have no row."""
    return int(connection.execute(_REMOVED).fetchone()[0])
