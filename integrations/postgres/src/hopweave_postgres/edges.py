"""The statements that read edges, with what a walk needs to know of the nodes at their other ends."""

from typing import NamedTuple, cast

import numpy as np

from hopweave.graph_store.backend import Array
from hopweave_postgres.arrays import SqlType, packed, unpacked
from hopweave_postgres.connections import Rows
from hopweave_postgres.tenant import OF_NAMES, OF_NUMBERS

NODE_COLUMNS = {"kind": "int2", "topic": "int2", "passages": "int4", "edge_ends": "int4", "edges": "int4"}
_EDGE_COLUMNS = {"src": "int4", "dst": "int4", "code": "int2", "weight": "float8", "copies": "int4", **NODE_COLUMNS}
_NEAR_COLUMNS = {"word": "int4", "node": "int4", "near_passages": "int4", "passages": "int4"}

_READ = """
SELECT e.src, e.dst, e.code, e.weight, e.copies, n.kind, n.topic::int::int2 AS topic, n.passages, n.edge_ends, n.edges
FROM ({source}) AS s (id)
CROSS JOIN LATERAL (SELECT * FROM edges WHERE src = s.id ORDER BY dst, code, weight LIMIT %s) e
JOIN nodes n ON n.id = e.dst
"""
EDGES = f"SELECT {packed(*_EDGE_COLUMNS)} FROM ({_READ.format(source=OF_NUMBERS)}) e"
"""The edges of nodes: their numbers, and how many edges of one node to read at most."""

EDGES_OF_NAMES = EDGES.replace(OF_NUMBERS, OF_NAMES)
"""The edges of the nodes with some names: word keys, the size of the graph, and how many edges of one node to read."""

EDGES_AND_NEAR = f"""
WITH e AS MATERIALIZED ({_READ.format(source=OF_NUMBERS)})
SELECT * FROM (SELECT {packed(*_EDGE_COLUMNS)} FROM e) a, (
    SELECT {packed("f.word", "d.dst", "near.passages", "d.passages")}
    FROM (SELECT DISTINCT dst, passages FROM e WHERE kind <> %s) d CROSS JOIN unnest(%s::int[]) AS f (word)
    CROSS JOIN LATERAL (SELECT passages FROM near WHERE near.word = f.word AND near.node = d.dst OFFSET 0) near
) b
"""
"""The same, with what stands next to words and the nodes at the other ends: besides, the kind of passages, and words.

OFFSET 0 makes the server look up pairs, where it might read all names next to a word, which grow with the corpus.
"""


class NearRows(NamedTuple):
    """Words next to names of nodes, in columns: in how many passages, and how many passages have the name."""

    word: Array
    node: Array
    near: Array
    passages: Array


class EdgeColumns(NamedTuple):
    """Edges in columns, and `about` the nodes at their other ends: kind, topic, passages, edge_ends and edges."""

    source: Array
    target: Array
    code: Array
    weight: Array
    copies: Array
    about: tuple[Array, ...]


def edge_columns(found: Rows) -> EdgeColumns:
    """What `EDGES` has found."""
    source, target, code, weight, copies, *about = _unpacked(found[0], _EDGE_COLUMNS)
    return EdgeColumns(source, target, code, weight, copies, tuple(about))


def near_rows(found: Rows) -> NearRows:
    """What stands next to names, in the last columns of a row."""
    return NearRows(*_unpacked(found[0][-len(_NEAR_COLUMNS) :], _NEAR_COLUMNS))


def no_near_rows() -> NearRows:
    """Columns without rows."""
    return NearRows(*(np.empty(0, np.int32) for _ in NearRows._fields))


def _unpacked(row: tuple[bytes | None, ...], columns: dict[str, str]) -> tuple[Array, ...]:
    return tuple(unpacked(one, cast(SqlType, kind)) for one, kind in zip(row, columns.values(), strict=False))
