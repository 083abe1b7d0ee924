"""Who contributed what: the graph is kept as one entry per document, and worked out from the entries when read.

So adding, changing and deleting documents in any order leaves exactly the entries of the documents that are left,
and indexing a document again changes nothing. `Ledger` keeps the entries in memory. The functions keep them in an
SQLite database, inside whatever transaction the caller has open.
"""

import json
import math
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, TypeVar

from hopweave.graph.model import Contribution, Edge, Mention, Node

Item = TypeVar("Item")

TABLES = """
CREATE TABLE IF NOT EXISTS graph_contributions (
    document_id TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    payload BLOB NOT NULL
)
"""
_PLAIN = Mention("")[1:]
_AT_ONCE = 500  # ids per statement, below SQLite's limit on parameters


class Ledger:
    """The contributions of documents, in memory.

    >>> ledger, said = Ledger(), Contribution("d", (Node.passage("d"),))
    >>> ledger.record([said]), ledger.record([said])
    (['d'], [])
    >>> ledger.forget(["d"]), ledger.read()
    (['d'], [])
    """

    def __init__(self, contributions: Iterable[Contribution] = ()) -> None:
        self._entries: dict[str, Contribution] = {}
        self._digests: dict[str, bytes] = {}
        self.record(contributions)

    def record(self, contributions: Iterable[Contribution]) -> list[str]:
        """Put contributions in place of what their documents said before; the ids for which that made a difference."""
        changed = []
        for contribution in contributions:
            text = _encode(contribution)
            digest = _digest(text)
            if not text:
                changed += self.forget([contribution.document_id])
            elif self._digests.get(contribution.document_id) != digest:
                self._entries[contribution.document_id] = _decode(contribution.document_id, text)
                self._digests[contribution.document_id] = digest
                changed.append(contribution.document_id)
        return changed

    def forget(self, document_ids: Iterable[str]) -> list[str]:
        """Take out all that these documents contributed; the ids that were there."""
        gone = [id_ for id_ in dict.fromkeys(document_ids) if self._entries.pop(id_, None) is not None]
        for id_ in gone:
            del self._digests[id_]
        return gone

    def read(self) -> list[Contribution]:
        """All contributions, by document id."""
        return [self._entries[id_] for id_ in sorted(self._entries)]

    def refresh(self, connection: sqlite3.Connection) -> list[str]:
        """Bring the ledger to the state of a database, reading only entries that differ; the ids that changed."""
        stored: dict[str, bytes] = dict(connection.execute("SELECT document_id, digest FROM graph_contributions"))
        gone = self.forget([id_ for id_ in self._entries if id_ not in stored])
        changed = [id_ for id_, digest in stored.items() if self._digests.get(id_) != digest]
        for contribution in _read(connection, changed if self._entries else None):
            self._entries[contribution.document_id] = contribution
            self._digests[contribution.document_id] = stored[contribution.document_id]
        return sorted(gone + changed)


def create_tables(connection: sqlite3.Connection) -> None:
    """Make room for contributions in a database; what is there stays.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> read(connection)
    []
    """
    connection.execute(TABLES)


def record(connection: sqlite3.Connection, contributions: Iterable[Contribution]) -> list[str]:
    """Put contributions in place of what their documents said before; the ids for which that made a difference.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> record(connection, [Contribution("d", (Node.passage("d"),))])
    ['d']
    >>> record(connection, [Contribution("d", (Node.passage("d"),))])
    []
    """
    changed: list[str] = []
    for batch in _batches(contributions):
        texts = {one.document_id: _encode(one) for one in batch}
        known = dict(_select(connection, "document_id, digest", list(texts)))
        new = {id_: text for id_, text in texts.items() if text and known.get(id_) != _digest(text)}
        connection.executemany(
            "INSERT OR REPLACE INTO graph_contributions (document_id, digest, payload) VALUES (?, ?, ?)",
            [(id_, _digest(text), zlib.compress(text, 1)) for id_, text in new.items()],
        )
        emptied = forget(connection, [id_ for id_, text in texts.items() if not text])
        changed += [id_ for id_ in texts if id_ in new or id_ in emptied]
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
        known = {id_ for (id_,) in _select(connection, "document_id", batch)}
        there = [id_ for id_ in batch if id_ in known]
        connection.executemany("DELETE FROM graph_contributions WHERE document_id = ?", [(id_,) for id_ in there])
        gone += there
    return gone


def read(connection: sqlite3.Connection) -> list[Contribution]:
    """All contributions, by document id.

    >>> connection = sqlite3.connect(":memory:")
    >>> create_tables(connection)
    >>> said = Contribution("d", (Node.passage("d"),), mentions=(Mention("Łódź"),))
    >>> record(connection, [said]), read(connection) == [said]
    (['d'], True)
    """
    return sorted(_read(connection), key=lambda contribution: contribution.document_id)


def _read(connection: sqlite3.Connection, document_ids: list[str] | None = None) -> Iterator[Contribution]:
    if document_ids is None:
        for id_, payload in connection.execute("SELECT document_id, payload FROM graph_contributions"):
            yield _decode(id_, zlib.decompress(payload))
        return
    for batch in _batches(document_ids):
        for id_, payload in _select(connection, "document_id, payload", batch):
            yield _decode(id_, zlib.decompress(payload))


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
    for edge in contribution.edges:
        _check_weight(contribution, f"edge {edge.source!r} -{edge.type}-> {edge.target!r}", edge.weight)
    for mention in contribution.mentions:
        _check_weight(contribution, f"mention of {mention.name!r}", mention.weight)
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
    return text.encode("utf-8", "surrogatepass")


def _check_weight(contribution: Contribution, what: str, weight: float) -> None:
    if not 0 <= weight < math.inf:
        raise ValueError(
            f"document {contribution.document_id!r}, {what}: weight {weight} is not allowed; "
            "it must be 0 or more, and finite"
        )


def _decode(document_id: str, text: bytes) -> Contribution:
    nodes, edges, mentions, words, addresses = json.loads(text.decode("utf-8", "surrogatepass"))
    return Contribution(
        document_id,
        tuple(Node(*node) for node in nodes),
        tuple(Edge(*edge) for edge in edges),
        tuple(Mention(mention) if isinstance(mention, str) else Mention(*mention) for mention in mentions),
        words,
        tuple(addresses),
    )
