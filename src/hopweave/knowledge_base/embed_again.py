"""Embedding stored documents again: with the embedder that had failed for some, or all of them with another one."""

import sqlite3
from collections.abc import Callable, Iterator

from hopweave.errors import EmbeddingError
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.documents import Entry, digests, stored_documents
from hopweave.knowledge_base.schema import vector_columns
from hopweave.knowledge_base.settings import Settings, write_settings
from hopweave.knowledge_base.writer import Preparer, write
from hopweave.vector.graph_embedder import GraphEmbedder

_AT_ONCE = 1000
_WEIGHTS = "CREATE TABLE IF NOT EXISTS weights (model TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID"
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
            documents = stored_documents(connection, lacking[start : start + batch_size])
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


def embed_anew(connections: Connections, embedder: GraphEmbedder) -> None:
    """Keep an embedder in the file and put its vectors in place of those there are, in one transaction."""
    with connections.writing() as connection:
        connection.execute("DELETE FROM vectors")
        connection.execute("DELETE FROM images WHERE name LIKE 'vectors:%'")
        connection.execute(_WEIGHTS)
        connection.execute("DELETE FROM weights")
        connection.execute("INSERT INTO weights VALUES (?, ?)", (embedder.name, embedder.weights))
        write_settings(connection, {"embedder": embedder.model_dump(mode="json"), "model": embedder.name})
        rows = dict(connection.execute("SELECT id, row FROM documents"))
        pending = [(rows[document.id], document.searchable) for document in stored_documents(connection)]
        for first in range(0, len(pending), _AT_ONCE):
            some = pending[first : first + _AT_ONCE]
            vectors = embedder.embed([text for _, text in some])
            connection.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?, ?)",
                [
                    vector_columns(row, embedder.name, vector.tobytes())
                    for (row, _), vector in zip(some, vectors, strict=True)
                ],
            )
