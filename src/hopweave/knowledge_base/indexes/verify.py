"""Do the index images say what the rows of the file say?"""

import sqlite3
from collections.abc import Iterator
from typing import Any

from hopweave.errors import HopweaveError
from hopweave.knowledge_base.indexes.images import Noted, all_noted
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
        elif not _right(index, image, connection, snapshot):
            yield f"image {image.file} does not say what the documents say; hopweave compact --rebuild makes it again"


def _right(index: LiveIndex[Any], image: Noted, connection: sqlite3.Connection, snapshot: Snapshot) -> bool:
    version = version_of(connection)
    opened = index.from_image(image, snapshot.folder)
    if opened.position != image.position or opened.version != image.version:  # it could not be opened
        return False
    try:
        followed, _ = index.followed(opened, connection)
        fresh, _ = index.followed(Held(index.empty(), 0, 0), connection)
        return image.version <= version and index.same(followed, fresh)
    except (HopweaveError, IndexError, ValueError):  # from arrays that are no index
        return False
