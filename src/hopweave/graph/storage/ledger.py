"""Who contributed what: the graph is kept as one entry per document, and follows from these entries.

So adding, changing and deleting documents in any order leaves exactly the entries of the documents that are left,
and indexing a document again changes nothing. The functions keep the entries in an SQLite database, inside whatever
transaction the caller has open.

Every change gets the next sequence number, and an entry that was taken out stays as one without a payload, so that
`changes` costs what has changed. `clear_removed` drops such entries once an image of the graph covers them.
"""

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import starmap
from typing import Any, NamedTuple, TypeVar

from hopweave.errors import KnowledgeBaseError
from hopweave.graph.model import Contribution, Edge, Mention, Node

Item = TypeVar("Item")

TABLES = """
CREATE TABLE IF NOT EXISTS graph_contributions (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id TEXT NOT NULL UNIQUE,
    digest BLOB,
    payload BLOB
);
CREATE INDEX IF NOT EXISTS graph_removed ON graph_contributions (sequence) WHERE digest IS NULL;
CREATE TABLE IF NOT EXISTS graph_state (only INTEGER PRIMARY KEY CHECK (only = 1), cleared INTEGER NOT NULL);
INSERT OR IGNORE INTO graph_state VALUES (1, 0);
"""
_PLAIN = Mention("")[1:]
_MAX_ENTRY_BYTES = 1 << 26  # of one document, decompressed
_NAMES_KEPT = 5000  # most names are in many documents
_AT_ONCE = 500  # ids per statement, below SQLite's limit on parameters


class Changes(NamedTuple):
    """What the entries of some documents became: `current` now, or `gone`. `sequence` is that of the last change.

    `whole` means that `current` are all entries there are, by document id, because changes so long ago are no longer
    known one by one.
    """

    sequence: int
    current: "StoredEntries"
    gone: list[str]
    whole: bool


class StoredEntries:
    """Contributions as they are stored. Each is decoded when it is read, as all at once take much memory.

    >>> one = Contribution("d", (Node.passage("d"),))
    >>> list(StoredEntries([("d", encoded(one).payload)])) == [one]
    True
    """

    def __init__(self, rows: Sequence[tuple[str, bytes]]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Contribution]:
        return starmap(decoded, self._rows)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make room for contributions in a database; what is there stays.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> read(connection)
    []
    """
    for statement in TABLES.split(";"):  # not as a script, which would end the caller's transaction
        connection.execute(statement)


def record(connection: sqlite3.Connection, contributions: Iterable[Contribution]) -> list[str]:
    """Replace what these documents contributed; the ids for which that made a difference.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> record(connection, [Contribution("d", (Node.passage("d"),))])
    ['d']
    >>> record(connection, [Contribution("d", (Node.passage("d"),))])
    []
    """
    return record_encoded(connection, map(encoded, contributions))


class Encoded(NamedTuple):
    """A contribution as it is stored; without a payload if it contributes nothing."""

    document_id: str
    digest: bytes
    payload: bytes


def encoded(contribution: Contribution) -> Encoded:
    """A contribution in the form in which it is stored, which any process can make.

    >>> encoded(Contribution("d")).payload
    b''
    """
    text = _encode(contribution)
    return Encoded(contribution.document_id, _digest(text), zlib.compress(text, 1) if text else b"")


def record_encoded(connection: sqlite3.Connection, contributions: Iterable[Encoded]) -> list[str]:
    """The same as `record` for contributions that are encoded already."""
    changed: list[str] = []
    for batch in _batches(contributions):
        entries = {one.document_id: one for one in batch}
        known = dict(_select(connection, "document_id, digest", list(entries)))
        new = {id_ for id_, one in entries.items() if one.payload and known.get(id_) != one.digest}
        connection.executemany(
            "INSERT OR REPLACE INTO graph_contributions (document_id, digest, payload) VALUES (?, ?, ?)",
            [one for id_, one in entries.items() if id_ in new],
        )
        emptied = forget(connection, [id_ for id_, one in entries.items() if not one.payload])
        changed += [id_ for id_ in entries if id_ in new or id_ in emptied]
    return list(dict.fromkeys(changed))


def forget(connection: sqlite3.Connection, document_ids: Iterable[str]) -> list[str]:
    """Take out all that these documents contributed; the ids that were there.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> forget(connection, ["d"])
    []
    """
    gone: list[str] = []
    for batch in _batches(dict.fromkeys(document_ids)):
        known = {id_ for id_, digest in _select(connection, "document_id, digest", batch) if digest}
        there = [id_ for id_ in batch if id_ in known]
        connection.executemany(
            "INSERT OR REPLACE INTO graph_contributions (document_id) VALUES (?)", [(id_,) for id_ in there]
        )
        gone += there
    return gone


def last_sequence(connection: sqlite3.Connection) -> int:
    """The sequence number of the last change, 0 if there was none.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> _ = record(connection, [Contribution("d", (Node.passage("d"),))]), forget(connection, ["d"])
    >>> last_sequence(connection)
    2
    """
    found = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'graph_contributions'").fetchone()
    return int(found[0]) if found else 0


def changes(connection: sqlite3.Connection, after: int = 0) -> Changes:
    """What has changed after a sequence number; the cost is that of the changes.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> _ = record(connection, [Contribution("d", (Node.passage("d"),)), Contribution("e", (Node.passage("e"),))])
    >>> _ = forget(connection, ["d"])
    >>> found = changes(connection, after=2)
    >>> found.sequence, list(found.current), found.gone, found.whole
    (3, [], ['d'], False)
    """
    whole, found = _changed_rows(connection, after)
    rows = list(found)
    current = [(id_, payload) for id_, digest, payload in rows if digest is not None]
    gone = [id_ for id_, digest, _ in rows if digest is None]
    return Changes(last_sequence(connection), StoredEntries(sorted(current) if whole else current), gone, whole)


def clear_removed(connection: sqlite3.Connection, through: int) -> None:
    """Drop what is left of entries that were taken out up to a sequence number.

    Whoever has read less than that reads all entries next time.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> _ = record(connection, [Contribution("d", (Node.passage("d"),))]), forget(connection, ["d"])
    >>> clear_removed(connection, 2)
    >>> changes(connection, after=1).whole
    True
    """
    connection.execute("DELETE FROM graph_contributions WHERE digest IS NULL AND sequence <= ?", (through,))
    connection.execute("UPDATE graph_state SET cleared = max(cleared, ?)", (through,))


def read(connection: sqlite3.Connection) -> list[Contribution]:
    """All contributions, by document id.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> entry = Contribution("d", (Node.passage("d"),), mentions=(Mention("Łódź"),))
    >>> record(connection, [entry]), read(connection) == [entry]
    (['d'], True)
    """
    return list(changes(connection).current)


def decoded(document_id: str, payload: bytes) -> Contribution:
    """The contribution of an entry as it is stored.

    >>> decoded("d", encoded(Contribution("d", words="a ferry")).payload).words
    'a ferry'
    """
    return _decode(document_id, decompressed(document_id, payload))


def decompressed(document_id: str, payload: bytes) -> bytes:
    """An entry as it was before it was compressed; a small payload that grows beyond all measure is refused.

    >>> decompressed("d", zlib.compress(b"[]"))
    b'[]'
    """
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(payload, _MAX_ENTRY_BYTES)
    except zlib.error as error:
        raise KnowledgeBaseError(f"graph entry of {document_id!r} is damaged: {error}") from error
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise KnowledgeBaseError(
            f"graph entry of {document_id!r} is damaged, or takes more than {_MAX_ENTRY_BYTES} bytes"
        )
    return text


def is_sound(document_id: str, digest: bytes | None, payload: bytes | None) -> bool:
    """Whether a stored entry can be read and is what its digest says.

    >>> one = encoded(Contribution("d", (Node.passage("d"),)))
    >>> is_sound(*one), is_sound("d", one.digest, one.payload[:-1])
    (True, False)
    """
    if digest is None or payload is None:
        return False
    try:
        text = decompressed(document_id, payload)
        _decode(document_id, text)
    except (KnowledgeBaseError, ValueError, TypeError, RecursionError):
        return False
    return _digest(text) == digest


def _changed_rows(connection: sqlite3.Connection, after: int) -> tuple[bool, Iterable[tuple[str, bytes, bytes]]]:
    whole = after == 0 or after < int(connection.execute("SELECT cleared FROM graph_state").fetchone()[0])
    query = "SELECT document_id, digest, payload FROM graph_contributions WHERE sequence > ? ORDER BY sequence"
    return whole, connection.execute(query, (0 if whole else after,))


def _select(connection: sqlite3.Connection, columns: str, ids: list[str]) -> Iterable[tuple[Any, ...]]:
    marks = ",".join("?" * len(ids))
    return connection.execute(f"SELECT {columns} FROM graph_contributions WHERE document_id IN ({marks})", ids)  # noqa: S608 - nothing but column names and question marks


def _batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == _AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def _digest(text: bytes) -> bytes:
    return blake2b(text, digest_size=16).digest()


def _encode(contribution: Contribution) -> bytes:
    """A contribution as compact JSON; empty if it contributes nothing."""
    check_weights(contribution)
    parts = [
        [[node.id, node.kind, node.name, node.document_id, dict(node.metadata)] for node in contribution.nodes],
        [[edge.source, edge.target, edge.type, edge.weight, edge.label] for edge in contribution.edges],
        [mention.name if mention == (mention.name, *_PLAIN) else list(mention) for mention in contribution.mentions],
        contribution.words,
        list(contribution.addresses),
    ]
    if not any(parts):
        return b""
    try:
        text = json.dumps(parts, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as fault:
        raise ValueError(
            f"document {contribution.document_id!r}: node metadata must be JSON values: {fault}"
        ) from fault
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) > _MAX_ENTRY_BYTES:
        raise ValueError(
            f"document {contribution.document_id!r}: its graph entry takes {len(encoded)} bytes; "
            f"at most {_MAX_ENTRY_BYTES} are allowed"
        )
    return encoded


def check_weights(contribution: Contribution) -> None:
    """Raise an error if an edge or mention has a weight that is negative, infinite or no number.

    >>> check_weights(Contribution("d", mentions=(Mention("Skua", weight=-1.0),)))
    Traceback (most recent call last):
        ...
    ValueError: document 'd', mention of 'Skua': weight -1.0 is not allowed; it must be 0 or more, and finite
    """
    for edge in contribution.edges:
        _check_weight(contribution, f"edge {edge.source!r} -{edge.type}-> {edge.target!r}", edge.weight)
    for mention in contribution.mentions:
        _check_weight(contribution, f"mention of {mention.name!r}", mention.weight)


def _check_weight(contribution: Contribution, what: str, weight: float) -> None:
    if not 0 <= weight < math.inf:
        raise ValueError(
            f"document {contribution.document_id!r}, {what}: weight {weight} is not allowed; "
            "it must be 0 or more, and finite"
        )


@lru_cache(_NAMES_KEPT)
def _plain_mention(name: str) -> Mention:
    return Mention(name)


def _decode(document_id: str, text: bytes) -> Contribution:
    nodes, edges, mentions, words, addresses = json.loads(text.decode("utf-8", "surrogatepass"))
    return Contribution(
        document_id,
        tuple(Node(*node) for node in nodes),
        tuple(Edge(*edge) for edge in edges),
        tuple([_plain_mention(one) if isinstance(one, str) else Mention(*one) for one in mentions]),
        words,
        tuple(addresses),
    )
