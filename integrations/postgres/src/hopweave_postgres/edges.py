"""The statements that read edges and the names next to words of a question, and what they find."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from hopweave.graph_store.backend import (
    MAX_ENDING,
    MIN_SHARED_LETTERS,
    MIN_STEM,
    STOP_WORDS,
    Array,
    Floats,
    Indices,
    rarity,
)
from hopweave_postgres.arrays import SqlType, packed, unpacked
from hopweave_postgres.connections import Rows
from hopweave_postgres.schema import is_storable
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


MAX_LISTED = 300
"""A word that is next to names in more documents than this is looked up for the nodes that a walk reaches only.

The list of all names next to a frequent word grows with the corpus, while a walk reaches about as many nodes as ever.
"""

# two words are forms of one as in `same_stem`
_NEAR = f"""
WITH forms AS MATERIALIZED (
    SELECT asked.place, words.id, words.near_documents FROM unnest(%s::text[]) WITH ORDINALITY AS asked (word, place)
    JOIN words ON left(words.text, {MIN_STEM}) = left(asked.word, {MIN_STEM}) AND near_documents > 0
    CROSS JOIN LATERAL (SELECT greatest(length(words.text), length(asked.word)) AS longer) l
    CROSS JOIN LATERAL (
        SELECT greatest({MIN_STEM}, longer - {MAX_ENDING}, ceil({MIN_SHARED_LETTERS} * longer)::int) AS needed
    ) n
    WHERE left(words.text, needed) = left(asked.word, needed)
), found AS (
    SELECT near.* FROM near WHERE word IN (SELECT id FROM forms WHERE near_documents <= %s)
    UNION ALL
    SELECT near.* FROM (SELECT DISTINCT id FROM forms WHERE near_documents > %s) f
    CROSS JOIN unnest(%s::int[]) AS k (node)
    CROSS JOIN LATERAL (SELECT * FROM near WHERE near.word = f.id AND near.node = k.node OFFSET 0) near
)
SELECT * FROM (SELECT {packed("place::int", "id", "near_documents")} FROM forms) f, (
    SELECT {packed("found.word", "found.node", "found.passages", "n.passages")}
    FROM found JOIN nodes n ON n.id = found.node
) o
"""


NOTHING_NEAR: Rows = [(None,) * 7]
"""The rows of `NearWords.statement` where nothing was found."""


class NearWords:
    """The words of one question and the names next to them, as far as they have been read."""

    def __init__(self, words: list[str], found: Rows, documents: int) -> None:
        """`found` are the rows of `statement`; `documents` is how many there are."""
        self.words = words
        self._asked, self._form, self._documents_near = (unpacked(one, "int4") for one in found[0][:3])
        self._rows = [near_rows(found)]
        self._documents = documents
        self._closeness: tuple[Indices, Floats] | None = None

    @staticmethod
    def statement(words: Sequence[str], reached: Array) -> tuple[str, list[Any]]:
        """The statement that finds the names next to these words; `reached` are nodes that are known already."""
        return _NEAR, [list(words), MAX_LISTED, MAX_LISTED, reached.astype(np.int32)]

    @property
    def frequent(self) -> Array:
        """The words that have to be looked up for every node that is reached."""
        return np.unique(self._form[self._documents_near > MAX_LISTED]).astype(np.int32)

    @property
    def rows_read(self) -> int:
        """How many rows were read."""
        return sum(len(one.word) for one in self._rows)

    def add(self, rows: NearRows) -> None:
        """Take note of what stands next to further nodes."""
        if len(rows.word):
            self._rows.append(rows)
            self._closeness = None

    def closeness(self) -> tuple[Indices, Floats]:
        """The nodes, each once and in order, and how closely their names occur next to the words."""
        if self._closeness is None:
            self._closeness = self._computed()
        return self._closeness

    def _computed(self) -> tuple[Indices, Floats]:
        if not len(self._asked):
            return np.empty(0, np.int64), np.empty(0)
        groups = [self._asked == one for one in np.unique(self._asked)]
        rarest = [
            max(rarity(near, self._documents) for near in self._documents_near[group].tolist()) for group in groups
        ]
        weights = np.array(rarest) / sum(rarest)
        rows = NearRows(*(np.concatenate(column) for column in zip(no_near_rows(), *self._rows, strict=True)))
        pairs = np.unique(rows.word.astype(np.int64) << 32 | rows.node, return_index=True)[1]  # some may be read twice
        word, node, count, passages = (column[pairs] for column in rows)
        nodes, place = np.unique(node, return_inverse=True)
        with_name = np.zeros(len(nodes))
        with_name[place] = passages
        closeness = np.zeros(len(nodes))
        for weight, group in zip(weights.tolist(), groups, strict=True):
            mine = np.isin(word, self._form[group])
            shares = np.bincount(place[mine], count[mine], len(nodes)) / (1 + with_name)
            closeness += weight * np.minimum(shares, 1.0)
        return nodes[closeness > 0].astype(np.int64), closeness[closeness > 0]


def content_words(words: Iterable[str]) -> list[str]:
    """The words that are no stop words and that can be stored, each once."""
    return [word for word in dict.fromkeys(words) if word not in STOP_WORDS and is_storable(word)]
