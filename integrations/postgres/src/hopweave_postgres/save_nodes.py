"""Writes the nodes that a change has made, changed or renamed, and the words of their names."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from psycopg import Cursor

from hopweave.graph_store.backend import (
    ALIVE,
    MAX_SEARCHED_WORDS,
    NAMED,
    PRESENT,
    STOP_WORDS,
    Numbers,
    describe,
    key_of_name,
    phrase_hash,
    without_accents,
    word_key,
)
from hopweave_postgres.partial_tables import NODE_SUMS, PartialTables
from hopweave_postgres.trigrams import bucket

_NUMBERS = (*NODE_SUMS, "edges", "leads_to")
_INSERT_NODES = (
    f"INSERT INTO nodes (id, key, {', '.join(_NUMBERS)}, name_hash, name_key, description) "
    f"SELECT * FROM unnest(%s::int[], %s::text[], {'%s::int[], ' * len(_NUMBERS)}%s::bigint[], %s::text[], "
    "%s::text[]) ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in (*_NUMBERS, "name_hash", "name_key", "description"))
)
_KEY_BYTES = 2_000  # of a name that can be looked up; an index entry must not be longer


class NodeChanges:
    """The nodes of partial tables after a change; `topics` are those that may have begun or ceased to be topics."""

    def __init__(self, cursor: Cursor[Any], part: PartialTables, state: dict[str, Any]) -> None:
        """`state` holds the counters of the graph, which are brought up to date."""
        self.cursor, self.part, self.state, self.tables = cursor, part, state, part.tables
        self.new: Numbers = np.empty(0, np.int64)
        self.topics: set[int] = set()

    def save(self) -> None:
        """Number the new nodes and write all that differ."""
        self._number()
        self._save_rows()

    def _number(self) -> None:
        """Give numbers to new nodes that somebody names, declares, refers to, or that are documents."""
        tables = self.tables
        used = np.zeros(len(tables.nodes), np.bool_)
        for name in ("about", "sure", "passages", "declared", "document", "edge_ends"):
            used |= tables.nodes[name] > 0
        used |= tables.nodes["flags"] & PRESENT > 0
        spelled = (tables.spellings["mentions"] > 0) | (tables.spellings["declared"] > 0)
        used[tables.spellings["node"][spelled]] = True
        alive = tables.edges["flags"] & ALIVE > 0
        for end in ("source", "target", "document"):
            used[tables.edges[end][alive]] = True
        self.new = np.array(
            [number for number in np.flatnonzero(used).tolist() if self.part.node_ids.id(number) < 0], np.int64
        )
        for number in self.new.tolist():
            self.part.node_ids.add(number, self.state["nodes"])
            self.state["nodes"] += 1

    def _save_rows(self) -> None:
        part, tables = self.part, self.tables
        now = {name: tables.nodes[name].astype(np.int64) for name in (*NODE_SUMS, "leads_to")}
        now["edges"] = part.nodes_before["edges"] + self._edge_counts()
        stored = part.node_ids.known(len(tables.nodes))
        differs = np.isin(stored, self.new)
        for name, values in now.items():
            differs |= values[stored] != part.nodes_before[name][stored]
        opened = np.isin(stored, [*part.complete_nodes, *self.new.tolist()])
        descriptions = {number: self._description(number) for number in stored[opened].tolist()}
        renamed = [number for number, new in descriptions.items() if part.described.get(number) != new]
        changed = np.union1d(stored[differs], np.array(renamed, np.int64))
        leads_to = part.node_ids.ids(now.pop("leads_to")[changed])
        ids = part.node_ids.ids(changed)
        texts = [descriptions.get(number) or part.described[number] for number in changed.tolist()]
        names = [name for name, _ in texts]
        self._count_names(changed, names, before=True)
        hashes = [0 if name is None else _signed(phrase_hash(name)) for name in names]
        self.cursor.execute(
            _INSERT_NODES.encode(),
            [
                ids.tolist(),
                [tables.node_keys[number] for number in changed.tolist()],
                *(values[changed].tolist() for values in now.values()),
                leads_to.tolist(),
                hashes,
                names,
                [description for _, description in texts],
            ],
        )
        self._save_name_words(changed, names)
        self._count_names(changed, names, before=False)
        self._count_passages(changed, now["flags"])
        self.topics = set(changed[now["about"][changed] != part.nodes_before["about"][changed]].tolist())
        self.topics |= {number for number in self.new.tolist() if now["about"][number]}

    def _description(self, number: int) -> tuple[str | None, str]:
        """The word key under which a node is found, and what is known of it, as JSON."""
        tables = self.tables
        node = describe(tables, number)
        flags, columns = int(tables.nodes["flags"][number]), tables.nodes
        text = json.dumps([node.id, node.kind, node.name, node.document_id, dict(node.metadata)])
        if flags & NAMED:
            key = key_of_name(tables, number)
        elif flags & PRESENT and (columns["document"][number] or columns["declared"][number] > 0):
            key = word_key(node.name)
        else:
            return None, text
        return (key if len(key.encode()) <= _KEY_BYTES else None), text

    def _save_name_words(self, nodes: Numbers, names: Sequence[str | None]) -> None:
        renamed = [
            (self.part.node_ids.id(number), old, name)
            for number, name in zip(nodes.tolist(), names, strict=True)
            if (old := self.part.described.get(number, (None, ""))[0]) != name
        ]
        self.cursor.execute("DELETE FROM name_words WHERE node = ANY(%s)", [[id_ for id_, _, _ in renamed]])
        rows = [(word, id_, length) for id_, _, name in renamed if name for word, length in name_words(name).items()]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 3
        self.cursor.execute(
            "INSERT INTO name_words SELECT * FROM unnest(%s::text[], %s::int[], %s::smallint[])", columns
        )
        save_vocabulary(self.cursor, columns[0], [old for _, old, _ in renamed])

    def _count_names(self, nodes: Numbers, names: Sequence[str | None], *, before: bool) -> None:
        """Keep the number of distinct names: those concerned are counted before and after."""
        known = (self.part.described.get(number, (None, ""))[0] for number in nodes.tolist())
        concerned = {
            key for old, new in zip(known, names, strict=True) if old != new for key in (old, new) if key is not None
        }
        self.cursor.execute("SELECT count(DISTINCT name_key) FROM nodes WHERE name_key = ANY(%s)", [list(concerned)])
        (count,) = self.cursor.fetchone() or (0,)
        self.state["names"] += -count if before else count

    def _count_passages(self, nodes: Numbers, flags: Numbers) -> None:
        """Keep the number of passages."""
        before = self.part.nodes_before["flags"]
        passages = nodes[self.tables.nodes["kind"][nodes] == self.tables.kind_code("passage")]
        known = [number for number in passages.tolist() if number in self.part.described]
        self.state["passages"] += int(np.count_nonzero(flags[passages] & PRESENT))
        self.state["passages"] -= int(np.count_nonzero(before[known] & PRESENT))

    def _edge_counts(self) -> Numbers:
        """How many more edges nodes have than before."""
        size = len(self.tables.nodes)
        sums = np.zeros(size, np.int64)
        for sign, parts in ((-1, self.part.removed), (1, self.part.added)):
            for entries in parts:
                sums += sign * np.bincount(entries[0], minlength=size)
        return sums


def name_words(key: str) -> dict[str, int | None]:
    """The words of a name, and for the first of them how many words there are.

    >>> name_words("port of harris")
    {'port': 3, 'of': None, 'harris': None}
    """
    words = key.split(" ")
    return {**dict.fromkeys(words), words[0]: min(len(words), MAX_SEARCHED_WORDS)}


def save_vocabulary(cursor: Cursor[Any], words: Iterable[str], old_names: Iterable[str | None]) -> None:
    """Keep the table of the words of names: `words` are in names now, and those of old names may be in none."""
    new = sorted(set(words) - STOP_WORDS)
    plain = [without_accents(word) for word in new]
    cursor.execute(
        "INSERT INTO vocabulary (word, plain, bucket) "
        "SELECT * FROM unnest(%s::text[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING",
        [new, plain, [bucket(word[:1], len(word)) for word in plain]],
    )
    old = {word for name in old_names if name for word in name.split(" ")}.difference(new)
    cursor.execute(
        "DELETE FROM vocabulary v WHERE word = ANY(%s) "
        "AND NOT EXISTS (SELECT 1 FROM name_words WHERE name_words.word = v.word)",
        [sorted(old)],
    )


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value
