"""What of the file is held in memory, kept in step with it."""

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from hopweave.document import Document
from hopweave.graph.csr import Graph
from hopweave.graph.ledger import Ledger
from hopweave.graph.readings import Readings
from hopweave.graph.resolve import resolve
from hopweave.knowledge_base.connections import Connections
from hopweave.text.analyzers import analyzer
from hopweave.text.bm25 import TextIndex, term_counts
from hopweave.vector.index import VectorIndex

Rows = npt.NDArray[np.int64]
Tenant = Mapping[str, Any]
T = TypeVar("T")

_TENANTS_KEPT = 256
_HeldGraph = tuple[Ledger, Readings, Graph]


@dataclass(frozen=True, slots=True)
class Held(Generic[T]):
    """Something derived from the file, and the version of the file it belongs to."""

    version: int
    value: T


@dataclass(slots=True)
class Snapshot:
    """Ids and indexes of one file in memory: read when first asked for, brought up to date when the file changes.

    Everything handed out is never changed afterwards, so threads share it without locks.
    """

    connections: Connections
    stored_analyzers: tuple[str, ...]
    approximate_above: int
    _lock: Lock = field(default_factory=Lock)
    _held: dict[tuple[str, str], Held[Any]] = field(default_factory=dict)
    _tenants: OrderedDict[tuple[int, str], Rows] = field(default_factory=OrderedDict)

    def ids(self) -> dict[int, str]:
        """Document ids by row."""
        return self._current(("ids", ""), {}, _changed_ids)

    def text(self, name: str) -> TextIndex:
        """The BM25 index of an analyzer; one that the file does not keep is worked out from the documents."""
        read = _read_terms if name in self.stored_analyzers else _analyse_terms

        def changed(index: TextIndex, rows: Rows, connection: sqlite3.Connection) -> TextIndex:
            return index.changed(read(connection, name, _last(index.rows)), _gone(index.rows, rows))

        return self._current(("text", name), TextIndex(), changed)

    def vectors(self, model: str) -> VectorIndex | None:
        """The vector index of an embedding model, if there are vectors of it."""

        def changed(index: VectorIndex | None, rows: Rows, connection: sqlite3.Connection) -> VectorIndex | None:
            new, matrix = _read_vectors(connection, model, _last(index.rows) if index else 0)
            if index is None:
                if not len(new):
                    return None
                index = VectorIndex(matrix.shape[1], self.approximate_above)
            index = index.changed(new, matrix, _gone(index.rows, rows))
            stored = _read_approximate(connection, model) if index.outdated else None
            return index.with_approximation(stored) if stored else index

        return self._current(("vectors", model), None, changed)

    def graph(self) -> Graph:
        """The graph that the documents make together."""

        def changed(held: _HeldGraph, _: Rows, connection: sqlite3.Connection) -> _HeldGraph:
            ledger, readings, graph = held
            if ledger.refresh(connection):
                graph = resolve(ledger.read(), readings=readings).graph(version_of(connection))
            return ledger, readings, graph

        return self._current(("graph", ""), (Ledger(), Readings(), _empty_graph()), changed)[2]

    def replace_vectors(self, model: str, old: VectorIndex, new: VectorIndex) -> None:
        """Hold another index of the same vectors."""
        key = ("vectors", model)
        with self._lock:
            held = self._held.get(key)
            if held and held.value is old:
                self._held[key] = Held(held.version, new)

    def allowed(self, tenant: Tenant | None) -> Rows | None:
        """The rows a tenant may see; None when everything is visible."""
        if tenant is None:
            return None
        condition, values = tenant_condition(tenant)
        with self.connections.reading() as connection:
            key = (version_of(connection), repr((condition, values)))
            rows = self._tenants.get(key)
            if rows is None:
                found = connection.execute(f"SELECT row FROM documents WHERE {condition}", values)
                rows = np.array([row for (row,) in found], np.int64)
                with self._lock:
                    self._tenants[key] = rows
                    while len(self._tenants) > _TENANTS_KEPT:
                        self._tenants.popitem(last=False)
            return rows

    def _current(self, key: tuple[str, str], empty: T, changed: Callable[[T, Rows, sqlite3.Connection], T]) -> T:
        held: Held[T] | None = self._held.get(key)
        with self.connections.glancing() as connection:
            if held and held.version >= version_of(connection):
                return held.value
        with self._lock, self.connections.reading() as connection:  # one thread does the work, the others wait for it
            version = version_of(connection)
            held = self._held.get(key)
            if held is None or held.version < version:
                rows = np.array([row for (row,) in connection.execute("SELECT row FROM documents")], np.int64)
                value = changed(held.value if held else empty, np.sort(rows), connection)
                held = self._held[key] = Held(version, value)
            return held.value


@cache
def _empty_graph() -> Graph:
    return Graph.build([], [])  # once, as it takes longer than looking up the graph that is held


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the file that this connection sees."""
    return int(connection.execute("SELECT version FROM state").fetchone()[0])


def tenant_condition(tenant: Tenant) -> tuple[str, list[Any]]:
    """An SQL condition on `documents` for metadata values that must be present, and the values to bind.

    A field that holds a list must hold one of the values in it.

    >>> tenant_condition({"customer": "acme"})[1]
    ['$."customer"', '$."customer"', 'acme']
    """
    parts, values = ["1"], []
    for name, wanted in sorted(tenant.items()):
        if '"' in name:
            raise ValueError(f"tenant field {name!r} must not contain a double quote")
        allowed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
        if wrong := [one for one in allowed if not isinstance(one, str | int | float)]:
            raise ValueError(
                f"tenant field {name!r} must be a string, a number or a list of them, but got {wrong[0]!r}"
            )
        marks = ", ".join("?" * len(allowed))
        parts.append(
            "json_type(documents.metadata, ?) <> 'object' AND "
            f"EXISTS (SELECT 1 FROM json_each(documents.metadata, ?) WHERE value IN ({marks}))"
        )
        values.extend([f'$."{name}"', f'$."{name}"', *allowed])
    return " AND ".join(parts), values


def _last(rows: Rows) -> int:
    return int(rows[-1]) if len(rows) else 0


def _gone(held: Rows, current: Rows) -> Rows:
    return held[~np.isin(held, current)]


def _changed_ids(ids: dict[int, str], rows: Rows, connection: sqlite3.Connection) -> dict[int, str]:
    new = dict(connection.execute("SELECT row, id FROM documents WHERE row > ?", (max(ids, default=0),)))
    if len(ids) + len(new) == len(rows):
        return {**ids, **new}
    return {row: new.get(row) or ids[row] for row in rows.tolist()}


def _read_terms(connection: sqlite3.Connection, name: str, after: int) -> list[tuple[int, Any, Any]]:
    found = connection.execute(
        "SELECT row, keys, counts FROM terms WHERE analyzer = ? AND row > ? ORDER BY row", (name, after)
    )
    return [(row, np.frombuffer(keys, np.uint64), np.frombuffer(counts, np.int32)) for row, keys, counts in found]


def _analyse_terms(connection: sqlite3.Connection, name: str, after: int) -> list[tuple[int, Any, Any]]:
    analyse = analyzer(name)
    found = connection.execute("SELECT row, title, text FROM documents WHERE row > ? ORDER BY row", (after,))
    return [(row, *term_counts(analyse(Document("", text, {"title": title}).searchable))) for row, title, text in found]


def _read_vectors(connection: sqlite3.Connection, model: str, after: int) -> tuple[Rows, npt.NDArray[np.float32]]:
    found = connection.execute(
        "SELECT row, vector FROM vectors WHERE model = ? AND row > ? ORDER BY row", (model, after)
    ).fetchall()
    matrix = np.frombuffer(b"".join(vector for _, vector in found), np.float32)
    return np.array([row for row, _ in found], np.int64), matrix.reshape(len(found), -1) if found else matrix


def _read_approximate(connection: sqlite3.Connection, model: str) -> bytes | None:
    parts = connection.execute("SELECT data FROM approximate_indexes WHERE model = ? ORDER BY part", (model,))
    return b"".join(data for (data,) in parts) or None
