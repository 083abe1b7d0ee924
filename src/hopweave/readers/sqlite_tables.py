"""Nodes, edges and embeddings from the tables of an existing SQLite file."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.graph.model import IMPORTED, Contribution, Edge, Node, passage_id
from hopweave.hit import Vector
from hopweave.readers.validation import storable

NODE_TABLES = ("nodes", "entities")
EDGE_TABLES = ("edges", "relationships", "relations")
EMBEDDING_TABLES = ("embeddings", "node_embeddings", "vec_embeddings")

_ID = ("id", "node_id", "entity_id")
_NAME = ("name", "title", "label")
_TEXT = ("text", "content", "description", "summary")
_SOURCE = ("source_id", "source", "from_id", "from_node", "src")
_TARGET = ("target_id", "target", "to_id", "to_node", "dst")
_TYPE = ("type", "edge_type", "relation", "kind")
_WEIGHT = ("weight", "strength")
_VECTOR = ("embedding", "vector", "data")


class Tables(NamedTuple):
    """What the tables of a file hold: a document per node, and what each of them contributes to the graph."""

    documents: list[Document]
    contributions: list[Contribution]


def read_sqlite_tables(path: str | Path) -> Tables:
    """The nodes of a file as documents, with their embeddings as vectors, and its edges as contributions.

    Nodes are in a table `nodes` or `entities` with an id and a name, text or both; edges in `edges`, `relationships`
    or `relations` with source and target, and optionally type and weight; embeddings, as 32-bit floats, in
    `embeddings`, `node_embeddings` or `vec_embeddings`. Other columns of a node are its metadata. The file is opened
    read-only.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "tools.db")
    ...     with closing(sqlite3.connect(file)) as made:
    ...         _ = made.executescript(
    ...             "CREATE TABLE nodes (id, name); INSERT INTO nodes VALUES (1, 'Parser'), (2, 'Index');"
    ...             "CREATE TABLE edges (source_id, target_id, type); INSERT INTO edges VALUES (1, 2, 'feeds_into');"
    ...         )
    ...     tables = read_sqlite_tables(file)
    >>> tables.documents[0].title, tables.contributions[0].edges[0].type
    ('Parser', 'feeds_into')
    """
    if not Path(path).is_file():
        raise UnreadableInput(f"{path}: is no file")
    try:
        with closing(sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)) as connection:
            vectors = dict(_vectors(connection, path))
            documents = [
                _document(row, vectors, path) for row in _rows(connection, _found(connection, NODE_TABLES, path))
            ]
            return Tables(documents, _contributions(connection, documents, path))
    except sqlite3.DatabaseError as error:
        raise UnreadableInput(f"{path}: is no readable SQLite file: {error}") from error


def _document(row: dict[str, Any], vectors: dict[str, Vector], path: str | Path) -> Document:
    key, name, text = (_taken(row, names) for names in (_ID, _NAME, _TEXT))
    if key is None or not (name or text):
        raise UnreadableInput(
            f"{path}: a node needs an id ({', '.join(_ID)}) and a name or text, but has {sorted(row)}"
        )
    title = {"title": str(name)} if name else {}
    metadata = {column: _value(value) for column, value in row.items() if value is not None}
    return storable(
        Document(str(key), str(text or name), {**metadata, **title}, vectors.get(str(key)), source=Path(path).name),
        f"{path}: node {key!r}",
    )


def _contributions(
    connection: sqlite3.Connection, documents: Sequence[Document], path: str | Path
) -> list[Contribution]:
    """One contribution for each node with outgoing edges."""
    table = _found(connection, EDGE_TABLES, None)
    known = {document.id: document for document in documents}
    edges: dict[str, list[Edge]] = {}
    for row in _rows(connection, table) if table else ():
        source, target, kind, weight = (_taken(row, names) for names in (_SOURCE, _TARGET, _TYPE, _WEIGHT))
        if str(source) not in known or str(target) not in known:
            raise UnreadableInput(f"{path}: the edge from {source!r} to {target!r} leads to a node that does not exist")
        ends = passage_id(str(source)), passage_id(str(target))
        edges.setdefault(str(source), []).append(
            Edge(*ends, str(kind or "relates_to"), 1.0 if weight is None else float(weight))
        )
    return [
        Contribution(f"{IMPORTED}{key}", (Node.passage(key, known[key].title),), tuple(leaving))
        for key, leaving in edges.items()
    ]


def _vectors(connection: sqlite3.Connection, path: str | Path) -> Iterator[tuple[str, Vector]]:
    table = _found(connection, EMBEDDING_TABLES, None)
    for row in _rows(connection, table) if table else ():
        key, data = _taken(row, ("node_id", "entity_id", "id")), _taken(row, _VECTOR)
        if not isinstance(data, bytes) or len(data) % 4:
            raise UnreadableInput(f"{path}: the embedding of node {key!r} is not made of 32-bit floats")
        yield str(key), np.frombuffer(data, "<f4").astype(np.float32)


def _found(connection: sqlite3.Connection, names: Sequence[str], path: str | Path | None) -> str:
    """The first of these tables that there is; none is an error if a path is given."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
    found = next((name for name in names if name in there), "")
    if not found and path is not None:
        raise UnreadableInput(
            f"{path}: has no table {' or '.join(names)}; there are {', '.join(sorted(there)) or 'none'}"
        )
    return found


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f'SELECT * FROM "{table}"')  # noqa: S608 - one of the names above
    columns = [column.lower() for column, *_ in cursor.description]
    return (dict(zip(columns, row, strict=True)) for row in cursor)


def _taken(row: dict[str, Any], names: Sequence[str]) -> Any:
    """The value of the first of these columns that there is; taken out of the row."""
    return next((row.pop(name) for name in names if name in row), None)


def _value(value: Any) -> Any:
    """A column as metadata: JSON where it is an object or a list, bytes left out."""
    if isinstance(value, bytes):
        return None
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
