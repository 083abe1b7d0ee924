"""Checks a file: every document is as it was stored, every index entry and image as its document says.

FTS5 can check itself, but that counts as writing, which a file that is only read refuses. So the full-text index is
made again from the documents, in a temporary database, and compared word by word.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from hopweave.component import Embedder
from hopweave.document import Document, searchable
from hopweave.errors import EmbeddingError, HopweaveError, InvalidImage
from hopweave.graph.build.builders.builder import GraphBuilder, contribute_all
from hopweave.graph.storage import ledger
from hopweave.knowledge_base.documents import content_digest
from hopweave.knowledge_base.images import ImageFolder, all_noted
from hopweave.knowledge_base.live_indexes import Held, LiveIndex
from hopweave.knowledge_base.locks import log_problems
from hopweave.knowledge_base.schema import tokenizer_of, vector_digest
from hopweave.knowledge_base.settings import GIVEN, Settings
from hopweave.knowledge_base.snapshot import Snapshot, version_of
from hopweave.text.analyzers import analyzer, term_counts
from hopweave.vector.graph_embedder import GraphEmbedder

_COUNTERS = {
    "the version is no number": "SELECT typeof(version) <> 'integer' OR typeof(cleared) <> 'integer' FROM state",
    "a row that was removed is there": "SELECT count(*) FROM removed JOIN documents USING (row)",
    "a removal is later than the file": "SELECT count(*) FROM removed WHERE version > (SELECT version FROM state)",
    "an image is later than the file": "SELECT count(*) FROM images WHERE version > (SELECT version FROM state)",
    "removals are forgotten that an image needs": "SELECT count(*) FROM images, state "
    "WHERE name NOT LIKE 'graph' AND images.version < cleared",
    "entries of the graph are forgotten that its image needs": "SELECT count(*) FROM images, graph_state "
    "WHERE name LIKE 'graph' AND position < cleared",
    "a row is beyond the last one": "SELECT (SELECT max(row) FROM documents) > "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'documents'), 0)",
    "a removed row is beyond the last one": "SELECT (SELECT max(row) FROM removed) > "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'documents'), 0)",
    "an entry of the graph is beyond the last one": "SELECT (SELECT max(sequence) FROM graph_contributions) > "
    "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'graph_contributions'), 0)",
}


def problems(connection: sqlite3.Connection, path: Path, settings: Settings) -> list[str]:
    """What is wrong, one sentence each; nothing when the file is sound. Nothing is written, not even a lock."""
    try:
        # asking more of a damaged file only raises
        return [*log_problems(path), *_damage(connection)] or [
            *_wrong_counters(connection),
            *_changed_documents(connection),
            *(sentence for name in settings.analyzers for sentence in _wrong_terms(connection, name)),
            *_wrong_vectors(connection, embedded=settings.model != GIVEN),
            *_wrong_weights(settings.embedder),
            *_left_behind(connection),
            *full_text_problems(connection),
            *_wrong_contributions(connection),
            *_lost_contributions(connection, settings.builders),
        ]
    except sqlite3.DatabaseError as error:
        return [f"storage: {error}"]
    except (TypeError, ValueError, RecursionError) as error:
        return [f"storage: a row does not hold what it should: {error}"]


def _damage(connection: sqlite3.Connection) -> Iterator[str]:
    for (sentence,) in connection.execute("PRAGMA integrity_check"):
        if sentence != "ok":
            yield f"storage: {sentence}"


def _wrong_counters(connection: sqlite3.Connection) -> Iterator[str]:
    """Versions, rows and sequence numbers only grow, and nothing has one that was not given yet."""
    for sentence, query in _COUNTERS.items():
        if connection.execute(query).fetchone()[0]:
            yield f"counters: {sentence}"


def _changed_documents(connection: sqlite3.Connection) -> Iterator[str]:
    for key, heading, text, metadata, source, digest in connection.execute(
        "SELECT id, title, text, metadata, source, digest FROM documents"
    ):
        if digest not in (content_digest(text, metadata, source), content_digest(text, metadata, source, heading)):
            yield f"document {key!r} is not as it was stored"


def _wrong_terms(connection: sqlite3.Connection, name: str) -> Iterator[str]:
    analyse = analyzer(name)
    rows = connection.execute(
        "SELECT id, title, text, keys, counts FROM documents "
        "LEFT JOIN terms ON terms.row = documents.row AND analyzer = ?",
        (name,),
    )
    for key, title, text, keys, counts in rows:
        if keys is None:
            yield f"document {key!r} lacks terms of {name!r}"
            continue
        made_keys, made_counts = term_counts(analyse(searchable(title, text)))
        if (keys, counts) != (made_keys.tobytes(), made_counts.tobytes()):
            yield f"document {key!r} has other terms of {name!r} than its text"


def _wrong_vectors(connection: sqlite3.Connection, *, embedded: bool) -> Iterator[str]:
    if embedded:
        query = "SELECT id FROM documents WHERE row NOT IN (SELECT row FROM vectors)"
        yield from (f"document {key!r} lacks a vector" for (key,) in connection.execute(query))
    query = "SELECT model FROM vectors GROUP BY model HAVING min(length(vector)) <> max(length(vector))"
    yield from (f"vectors of model {name!r} differ in size" for (name,) in connection.execute(query))
    query = "SELECT documents.id, model, row, vector, vectors.digest FROM vectors JOIN documents USING (row)"
    for key, model, row, vector, digest in connection.execute(query):
        if len(vector) % 4 or not np.isfinite(np.frombuffer(vector, np.float32)).all():
            yield f"document {key!r} has a vector that is not made of finite numbers"
        elif vector_digest(model, row, vector) != digest:
            yield f"document {key!r} has another vector than was stored"


def _wrong_weights(embedder: Embedder | None) -> Iterator[str]:
    """Of an embedder that is kept in the file."""
    try:
        if isinstance(embedder, GraphEmbedder):
            embedder.embed(["?"])
    except EmbeddingError as error:
        yield str(error)


def _left_behind(connection: sqlite3.Connection) -> Iterator[str]:
    for table in ("terms", "vectors"):
        query = f"SELECT count(*) FROM {table} WHERE row NOT IN (SELECT row FROM documents)"
        if (count := connection.execute(query).fetchone()[0]) > 0:
            yield f"{count} rows of {table} belong to no document"


def _wrong_contributions(connection: sqlite3.Connection) -> Iterator[str]:
    for document_id, digest, payload in connection.execute(
        "SELECT document_id, digest, payload FROM graph_contributions WHERE digest IS NOT NULL OR payload IS NOT NULL"
    ):
        if not ledger.is_sound(document_id, digest, payload):
            yield f"graph entry of {document_id!r} is not as it was stored"


def _lost_contributions(connection: sqlite3.Connection, builders: Sequence[GraphBuilder]) -> Iterator[str]:
    """Documents without an entry whose text has something to say to the graph."""
    if not builders:
        return
    query = (
        "SELECT id, text, metadata FROM documents WHERE id NOT IN "
        "(SELECT document_id FROM graph_contributions WHERE digest IS NOT NULL)"
    )
    for key, text, metadata in connection.execute(query):
        (contribution,) = contribute_all(builders, [Document(key, text, json.loads(metadata))])
        if ledger.encoded(contribution).payload:
            yield f"document {key!r} lacks its graph entry"


_AT_ONCE = 10_000


def full_text_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """One sentence if it does not."""
    words = tokenizer_of(connection)
    connection.execute(f"CREATE VIRTUAL TABLE temp.again USING fts5 (title, text, content = '', tokenize = '{words}')")
    try:
        connection.execute("INSERT INTO temp.again (rowid, title, text) SELECT row, title, text FROM documents")
        for kind in ("row", "instance"):
            connection.execute(f"CREATE VIRTUAL TABLE temp.made_{kind} USING fts5vocab (temp, again, {kind})")
            connection.execute(f"CREATE VIRTUAL TABLE temp.kept_{kind} USING fts5vocab (main, full_text, {kind})")
        if not (_same_words(connection) and _same_sizes(connection) and _every_word_found(connection)):
            yield "the full-text index does not say what the documents say"
    finally:
        for table in ("made_row", "kept_row", "made_instance", "kept_instance", "again"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _same_words(connection: sqlite3.Connection) -> bool:
    """Whether both have the same words at the same places; both list them in order."""
    made, kept = (connection.execute(f"SELECT * FROM temp.{name}_instance") for name in ("made", "kept"))
    pairs = zip_longest(*(iter(lambda cursor=cursor: cursor.fetchmany(_AT_ONCE), []) for cursor in (made, kept)))  # type: ignore[misc]
    return all(one == other for one, other in pairs)


def _same_sizes(connection: sqlite3.Connection) -> bool:
    """Whether both have the same numbers of words, by document and on average, which BM25 uses."""
    pairs = (
        ("SELECT * FROM temp.again_docsize", "SELECT * FROM main.full_text_docsize"),
        # without documents, sums of 0 may be written or not
        *(
            [("SELECT block FROM temp.again_data WHERE id = 1", "SELECT block FROM main.full_text_data WHERE id = 1")]
            if connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone()
            else []
        ),
    )
    return not any(
        connection.execute(f"{one} EXCEPT {other} LIMIT 1").fetchone()
        for pair in pairs
        for one, other in (pair, pair[::-1])
    )


def _every_word_found(connection: sqlite3.Connection) -> bool:
    """Whether every word is found where a search looks for it, which a list of all words does not show."""
    query = (
        "SELECT 1 FROM temp.made_row AS made WHERE NOT EXISTS (SELECT 1 FROM temp.kept_row AS kept "
        "WHERE kept.term = made.term AND kept.doc = made.doc AND kept.cnt = made.cnt) LIMIT 1"
    )
    return connection.execute(query).fetchone() is None


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
