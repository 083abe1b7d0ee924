"""Checks that the index images hold what the rows of the file hold."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopweave.errors import HopweaveError, InvalidImage
from hopweave.knowledge_base.indexes.images import ImageFolder, all_noted
from hopweave.knowledge_base.indexes.live_index import Held, LiveIndex
from hopweave.knowledge_base.indexes.snapshot import Snapshot, version_of


def image_problems(connection: sqlite3.Connection, snapshot: Snapshot) -> Iterator[str]:
    """What is wrong with images, one sentence each. One that is missing is not wrong: it is only made again."""
    indexes = {index.name: index for index in snapshot.persisted(connection)}
    for image in all_noted(connection):
        if not (snapshot.folder.folder / image.file).exists():
            continue
        index = indexes.get(image.name)
        if index is None:
            yield f"image {image.file} belongs to no index of this file"
            continue
        try:
            opened = index.mapped(image, snapshot.folder)
        except InvalidImage as error:
            yield f"image {image.file} cannot be used, and hopweave compact writes it again: {error}"
            continue
        if not _right(index, opened, connection):
            yield f"image {image.file} does not say what the documents say; hopweave compact --rebuild makes it again"


def image_notes(connection: sqlite3.Connection, folder: ImageFolder) -> Iterator[str]:
    """What is worth knowing of images and is no damage, one sentence each: those missing, and those left over."""
    images = all_noted(connection)
    if missing := [image.name for image in images if not (folder.folder / image.file).exists()]:
        yield (
            f"{len(missing)} of {len(images)} index images are missing ({', '.join(missing)}), so that every process "
            "builds these indexes from the documents; hopweave compact writes them"
        )
    if left := folder.leftovers(connection):
        yield (
            f"{len(left)} files in {folder.folder} are of a compaction that was killed, or of one under way "
            f"({sum(map(_size, left)) / 1e6:.1f} MB); the next hopweave compact removes them"
        )


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:  # removed meanwhile
        return 0


def _right(index: LiveIndex[Any], opened: Held[Any], connection: sqlite3.Connection) -> bool:
    try:
        followed, _ = index.followed(opened, connection)
        fresh, _ = index.followed(Held(index.empty(), 0, 0), connection)
        return opened.version <= version_of(connection) and index.same(followed, fresh)
    except (HopweaveError, IndexError, ValueError):  # from arrays that are no index
        return False
