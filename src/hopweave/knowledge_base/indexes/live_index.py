"""An index that starts from its image and follows the file: base and delta."""

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from hopweave.errors import InvalidImage
from hopweave.knowledge_base.indexes.images import ImageFolder, Noted, noted
from hopweave.storage.images import Array, Image

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """An index in memory: the version of the file it belongs to, and how far it has read.

    `position` is the last row, or the last sequence number of the ledger. `image` is the file it started from, and
    `base_version` the version that file belongs to; both are empty for an index made from rows alone.
    """

    value: T
    version: int
    position: int
    image: str = ""
    base_version: int = -1


class LiveIndex(ABC, Generic[T]):
    """How one index is opened, brought up to date and written. The values are never changed once handed out."""

    format_version: ClassVar[int]
    writable: ClassVar[bool] = False  # whether the arrays of an image are mapped copy-on-write
    private: ClassVar[bool] = (
        False  # whether `followed` changes its value, so that an image is made from one of its own
    )

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def empty(self) -> T:
        """The index of no documents."""

    @abstractmethod
    def opened(self, image: Image) -> T:
        """The index of an image; `InvalidImage` if its arrays do not fit together."""

    @abstractmethod
    def followed(self, held: Held[T], connection: sqlite3.Connection) -> tuple[T, int]:
        """The index with all that happened after `held`, and the position up to which it has read."""

    @abstractmethod
    def arrays(self, value: T) -> tuple[dict[str, Any], Mapping[str, Array]]:
        """What an image of the index holds: a header and arrays."""

    @abstractmethod
    def size(self, value: T) -> int:
        """How many entries the index has, against which changes are weighed."""

    @abstractmethod
    def changes(self, connection: sqlite3.Connection, image: Noted | None) -> int:
        """How many entries have come or gone since the image; all of them if there is none. Cheap to ask."""

    def changed_share(self, connection: sqlite3.Connection) -> float:
        """What share of the index is not in its image."""
        image = noted(connection, self.name)
        return min(self.changes(connection, image) / max(image.size, 1), 1.0) if image else 1.0

    def same(self, one: T, other: T) -> bool:  # noqa: ARG002 - for those that cannot compare
        """Whether two indexes are equal; those that cannot be compared rely on their checksum."""
        return True

    def can_follow(self, held: Held[T], connection: sqlite3.Connection) -> bool:  # noqa: ARG002 - for those that cannot
        """Whether all that happened after `held` is still known."""
        return True

    def current(
        self, held: Held[T] | None, version: int, connection: sqlite3.Connection, folder: ImageFolder
    ) -> Held[T]:
        """The index as the connection sees the file, starting from what is held or from a newer image."""
        image = noted(connection, self.name)
        start = held
        if start is None or not self.can_follow(start, connection) or self._newer(image, start):
            start = self.from_image(image, folder)
        value, position = self.followed(start, connection)
        return Held(value, version, position, start.image, start.base_version)

    def for_image(self, version: int, connection: sqlite3.Connection, folder: ImageFolder) -> Held[T]:
        """A copy of the index that nobody else uses, to make an image of it."""
        return self.current(None, version, connection, folder)

    def _newer(self, image: Noted | None, held: Held[T]) -> bool:
        return image is not None and image.file != held.image and image.version > held.base_version

    def from_image(self, image: Noted | None, folder: ImageFolder) -> Held[T]:
        """The index of an image alone; an empty one at position 0 if there is none that can be used."""
        if image is None:
            return Held(self.empty(), 0, 0)
        try:
            return self.mapped(image, folder)
        except InvalidImage as error:
            folder.unusable(image, error)
        # the file is noted although it is damaged, so that it is not tried again at every change
        return Held(self.empty(), 0, 0, image.file, image.version)

    def mapped(self, image: Noted, folder: ImageFolder) -> Held[T]:
        """The index of an image alone; `InvalidImage` says why there is none."""
        opened = self.opened(folder.open(image, self.format_version, writable=self.writable))
        return Held(opened, image.version, image.position, image.file, image.version)
