"""Documents that another embedder than the file's own has embedded, because that one had failed: found and mended."""

import json
import sqlite3
from collections.abc import Callable, Iterator

from hopweave.document import Document
from hopweave.errors import EmbeddingError
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.entry import Entry, digests
from hopweave.knowledge_base.prepare import Preparer
from hopweave.knowledge_base.settings import Settings
from hopweave.knowledge_base.writer import write

_LACKING = "SELECT id FROM documents WHERE row NOT IN (SELECT row FROM vectors WHERE model = ?) ORDER BY row"


def vectors_to_repair(connection: sqlite3.Connection, settings: Settings) -> Iterator[str]:
    """The documents without a vector of one of the file's models, one sentence each."""
    for model in settings.models:
        for (key,) in connection.execute(_LACKING, (model,)):
            yield (
                f"document {key!r} has no vector of model {model!r}, which had failed; hopweave index --repair makes it"
            )


def embed_again(
    connections: Connections, settings: Settings, batch_size: int, progress: Callable[[int], object] | None
) -> int:
    """Store these documents anew, with vectors of the file's own model; how many there were."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, but got {batch_size}")
    with connections.reading() as connection:
        found = (key for model in settings.models for (key,) in connection.execute(_LACKING, (model,)))
        lacking = list(dict.fromkeys(found))
    preparer = Preparer.of(connections.path, settings)
    mended = 0
    for start in range(0, len(lacking), batch_size):
        with connections.reading() as connection:
            documents = list(_documents(connection, lacking[start : start + batch_size]))
        prepared = dict(zip((one.id for one in documents), preparer.prepare(documents), strict=True))
        if failed := [name for name in settings.models for one in prepared.values() if name not in one.vectors]:
            raise EmbeddingError(f"{connections.path}: the embedder {failed[0]!r} still fails")
        entries = {document.id: Entry.of(document) for document in documents}
        with connections.writing() as connection:
            known = digests(connection, entries)  # what was changed meanwhile has been embedded anew
            same = [entry for key, entry in entries.items() if known.get(key) == entry.digests]
            write(connection, same, prepared)
        mended += len(same)
        if progress:
            progress(len(documents))
    return mended


def _documents(connection: sqlite3.Connection, ids: list[str]) -> Iterator[Document]:
    for marks, group in grouped(ids):
        query = f"SELECT id, text, metadata, source FROM documents WHERE id IN ({marks}) ORDER BY row"
        for key, text, metadata, source in connection.execute(query, group):
            yield Document(key, text, json.loads(metadata), source=source)
