"""The index images of a knowledge base: files in a folder beside it, and the table that says which of them count.

An image holds what can be worked out from the rows of the file as it was at one version, laid out so that processes
map it instead of making it. The table `images` names the current image of each index; replacing one is a single
transaction. A file that the table does not name is a leftover and is removed by the next compaction. Deleting the
folder loses nothing.
"""

import logging
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from hopweave.errors import InvalidImage, KnowledgeBaseError
from hopweave.storage.images import TEMPORARY, Array, Image, open_image, write_image

_log = logging.getLogger(__name__)
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class Noted:
    """What the table says of an image: its file, and the state of the knowledge base that it holds.

    `version` is that of the whole file; `position` is the last row of an index of documents, or the last sequence
    number of the ledger in an image of the graph; `size` is the number of entries.
    """

    name: str
    file: str
    checksum: str
    version: int
    position: int
    size: int


def noted(connection: sqlite3.Connection, name: str) -> Noted | None:
    """The current image of an index, if there is one."""
    found = connection.execute("SELECT * FROM images WHERE name = ?", (name,))
    row = found.fetchone()
    return Noted(*row) if row else None


def all_noted(connection: sqlite3.Connection) -> list[Noted]:
    """The current images, by name."""
    rows = connection.execute("SELECT * FROM images ORDER BY name")
    return [Noted(*row) for row in rows]


_IMAGE_NAME = re.compile(r"\A[A-Za-z0-9_.-]+\.image\Z")  # no path: nothing outside the folder


class ImageFolder:
    """The folder of images beside a knowledge base file: `corpus.db-index` beside `corpus.db`."""

    def __init__(self, path: Path) -> None:
        self.folder = Path(f"{path}-index")
        self._path = path
        self._unusable: set[str] = set()  # images that were found to be so

    def open(self, image: Noted, format_version: int, *, writable: bool = False) -> Image:
        """The image, mapped and checked; `InvalidImage` says why it cannot be used."""
        if not _IMAGE_NAME.fullmatch(str(image.file)):
            raise InvalidImage(f"{image.file!r}: is not the name of an image")
        opened = open_image(self.folder / image.file, image.checksum, writable=writable)
        found = opened.header.get("format")
        if found != format_version:
            raise InvalidImage(f"{self.folder / image.file}: has format {found!r}, but {format_version} is needed")
        if opened.header.get("state") != [image.name, image.version, image.position, image.size]:
            raise InvalidImage(f"{self.folder / image.file}: is not of the state that the file says")
        return opened

    def lacks(self, image: Noted) -> bool:
        """Whether an image is not there, or was found to be unusable. Cheap to ask."""
        return image.file in self._unusable or not (self.folder / image.file).exists()

    def unusable(self, image: Noted, error: InvalidImage) -> None:
        """Take note that an image cannot be used, and say so in the log: once, whichever and how many they are."""
        if not self._unusable:
            _log.warning("%s: index images are missing or cannot be used; hopweave compact writes them", self._path)
        if image.file not in self._unusable:
            self._unusable.add(image.file)
            _log.info("%s: index %s is built from the documents: %s", self._path, image.name, error)

    def write(
        self,
        name: str,
        header: Mapping[str, Any],
        arrays: Mapping[str, Array],
        *,
        version: int,
        position: int,
        size: int,
    ) -> Noted:
        """Write an image that does not count yet; `replace` makes it count. `header` must have its `format`."""
        kind = re.sub(r"[^a-z0-9]+", "-", name.lower())[:40].strip("-")
        file = f"{kind}-{version}-{uuid4().hex[:12]}.image"
        header = {**header, "state": [name, version, position, size]}
        self._make()
        self._unusable.clear()
        try:
            checksum = write_image(self.folder / file, header, arrays)
        except OSError as error:
            raise KnowledgeBaseError(f"{self.folder}: an image cannot be written: {error.strerror or error}") from error
        return Noted(name, file, checksum, version, position, size)

    @contextmanager
    def locked(self) -> Iterator[bool]:
        """Whether the caller is now the only one, in any process, that may write or remove images.

        The lock is one of SQLite's, so it goes with the process that holds it, however it ends.
        """
        self._make()
        lock = self.folder / _LOCK
        if self.folder.is_symlink() or lock.is_symlink():  # as nothing is written or removed where a link leads
            raise KnowledgeBaseError(f"{self.folder}: must be a folder and its lock a file, but one of them is a link")
        try:
            connection = sqlite3.connect(lock, timeout=0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise KnowledgeBaseError(f"{lock}: cannot be locked: {error}") from error
        try:
            yield _taken(connection, lock)
        finally:
            connection.close()

    def _make(self) -> None:
        try:
            self.folder.mkdir(exist_ok=True)
        except FileExistsError:
            raise KnowledgeBaseError(
                f"{self.folder}: must be a folder, for index images, but is a file; move it away"
            ) from None
        except OSError as error:
            raise KnowledgeBaseError(
                f"{self.folder}: cannot be made, for index images: {error.strerror or error}"
            ) from error

    def remove_leftovers(self, connection: sqlite3.Connection) -> None:
        """Remove images that the table does not name. Only for who has the lock."""
        for file in self.leftovers(connection):
            with suppress(OSError):  # on Windows, a reader may still have it mapped
                file.unlink()

    def leftovers(self, connection: sqlite3.Connection) -> list[Path]:
        """Images that the table does not name: of a compaction that was killed, or of one that is under way."""
        kept = {image.file for image in all_noted(connection)}
        files = sorted(self.folder.iterdir()) if self.folder.is_dir() else []
        return [file for file in files if file.name not in kept and file.name.endswith((".image", TEMPORARY))]


def _taken(connection: sqlite3.Connection, lock: Path) -> bool:
    """Whether the lock is now this connection's; False if another has it. A full disk, for example, is an error."""
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return False
        raise KnowledgeBaseError(f"{lock}: cannot be locked: {error}") from error
    return True


def replace(connection: sqlite3.Connection, image: Noted) -> None:
    """Make an image the current one of its index, inside the caller's transaction."""
    connection.execute(
        "INSERT OR REPLACE INTO images VALUES (?, ?, ?, ?, ?, ?)",
        (image.name, image.file, image.checksum, image.version, image.position, image.size),
    )


_OVER_ROWS = ("text:", "vectors:", "latent:")


def clear_removed(connection: sqlite3.Connection) -> None:
    """Forget the rows whose removal every image of documents knows about."""
    versions = [image.version for image in all_noted(connection) if image.name.startswith(_OVER_ROWS)]
    if versions:
        connection.execute("DELETE FROM removed WHERE version <= ?", (min(versions),))
        connection.execute("UPDATE state SET cleared = max(cleared, ?)", (min(versions),))
