"""Writes what a change of the tables has made different back to PostgreSQL."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from psycopg import Cursor

from hopweave.graph_store.backend import ALIVE, BACKWARD, MENTION, Array, Numbers, Texts, distinct_rows, passage_id
from hopweave_postgres.arrays import SqlType, copy_numbers
from hopweave_postgres.numbering import MENTIONS, NEARBY, stored_word
from hopweave_postgres.partial_tables import PartialTables
from hopweave_postgres.save_nodes import NodeChanges, save_vocabulary

_EDGES: dict[str, SqlType] = {"src": "int4", "dst": "int4", "code": "int2", "weight": "float8", "copies": "int4"}
_NEAR: dict[str, SqlType] = {"word": "int4", "node": "int4", "passages": "int4"}


class Row(NamedTuple):
    """What is stored of a document beside the graph itself."""

    document_id: str
    source: str
    metadata: str
    digest: bytes
    payload: bytes


def save(
    cursor: Cursor[Any],
    part: PartialTables,
    state: dict[str, Any],
    rows: Sequence[Row],
    gone: Sequence[str],
    affected: Numbers,
) -> None:
    """Write all that has changed in the tables since they were loaded. `rows` are the documents that were added.

    The caller holds the lock on `state`, so nothing else writes meanwhile.
    """
    _Save(cursor, part, state).run(rows, gone, affected)


class _Save:
    def __init__(self, cursor: Cursor[Any], part: PartialTables, state: dict[str, Any]) -> None:
        self.cursor, self.part, self.state, self.tables = cursor, part, dict(state), part.tables
        part.grow()

    def run(self, rows: Sequence[Row], gone: Sequence[str], affected: Numbers) -> None:
        """All tables in order."""
        documents = self._numbers([row.document_id for row in rows])
        self._number_words(documents)
        nodes = NodeChanges(self.cursor, self.part, self.state)
        nodes.save()
        self._topics = nodes.topics
        self._save_spellings()
        self._save_stated()
        self._save_declared()
        self._save_edges()
        self._save_near()
        self._save_documents(rows, documents, gone)
        self._save_words(documents)
        self._save_resolved(np.setdiff1d(affected, documents))
        self._clean()
        self._save_state()

    def _numbers(self, ids: Sequence[str]) -> Numbers:
        numbers = [self.tables.node_keys.get(passage_id(id_)) for id_ in ids]
        return np.array([number for number in numbers if number >= 0], np.int64)

    # Words

    def _words_of(self, documents: Numbers) -> tuple[Array, ...]:
        """Which documents have which words: one row of document and folded word each."""
        texts = Texts(self.tables, documents)
        return distinct_rows(texts.documents[texts.text_of], texts.words)

    def _number_words(self, documents: Numbers) -> None:
        for word in np.unique(self._words_of(documents)[1]).tolist():
            if self.part.word_ids.id(word) < 0:
                self.part.word_ids.add(word, self.state["words"])
                self.state["words"] += 1

    def _save_words(self, documents: Numbers) -> None:
        """Letter counts, and in how many documents a word is; words that no document has any more go."""
        part, before = self.part, self.part.words_before
        numbers = part.word_ids.known(len(self.tables.words))
        now = {name: self.tables.words[name][numbers].astype(np.int64) for name in ("lower", "upper", "near_documents")}
        now["documents"] = before["documents"][numbers]
        for sign, counts in ((1, Counter(self._words_of(documents)[1].tolist())), (-1, part.old_words)):
            now["documents"] = now["documents"] + sign * np.array(
                [counts[number] for number in numbers.tolist()], np.int64
            )
        differs = np.any([values != before[name][numbers] for name, values in now.items()], axis=0)
        changed = numbers[differs]
        texts = [stored_word(self.tables.word_strings[number]) for number in changed.tolist()]
        ids = part.word_ids.ids(changed).tolist()
        columns = [ids, texts, *(values[differs].tolist() for values in now.values())]
        self.cursor.execute(
            "INSERT INTO words SELECT * FROM unnest(%s::int[], %s::text[], %s::int[], %s::int[], %s::int[], %s::int[]) "
            "ON CONFLICT (id) DO UPDATE SET lower_case = excluded.lower_case, upper_case = excluded.upper_case, "
            "near_documents = excluded.near_documents, documents = excluded.documents",
            columns,
        )
        self.cursor.execute("DELETE FROM words WHERE id = ANY(%s) AND documents = 0", [columns[0]])

    def _save_spellings(self) -> None:
        part, columns = self.part, self.tables.spellings
        deltas = {name: columns[name].astype(np.int64) - part.spellings_before[name] for name in _SPELLINGS}
        changed = np.flatnonzero(np.any([delta != 0 for delta in deltas.values()], axis=0))
        nodes = part.node_ids.ids(columns["node"][changed]).tolist()
        texts = [self.tables.spelled(number) for number in changed.tolist()]
        self.cursor.execute(
            "INSERT INTO spellings SELECT * FROM unnest(%s::int[], %s::text[], %s::int[], %s::int[], %s::int[]) "
            "ON CONFLICT (node, text) DO UPDATE SET mentions = spellings.mentions + excluded.mentions, "
            "about = spellings.about + excluded.about, declared = spellings.declared + excluded.declared",
            [nodes, texts, *(delta[changed].tolist() for delta in deltas.values())],
        )
        self.cursor.execute("DELETE FROM spellings WHERE node = ANY(%s) AND mentions <= 0 AND declared <= 0", [nodes])

    # Edges

    def _save_stated(self) -> None:
        part, edges, ids = self.part, self.tables.edges, self.part.node_ids
        part.pad_stated()
        alive = edges["flags"] & ALIVE > 0
        stored = np.array(part.stated_ids, np.int64)
        about = self.tables.type_code("about")
        moved = [
            number
            for number, (start, end) in enumerate(part.stated_before)
            if (start, end) != (edges["start"][number], edges["end"][number]) or not alive[number] or stored[number] < 0
        ]
        for number in moved:
            if edges["type"][number] == about:
                self._topics |= {part.stated_before[number][1], int(edges["end"][number])}
        self.cursor.execute("DELETE FROM stated WHERE id = ANY(%s)", [stored[~alive & (stored >= 0)].tolist()])
        kept = np.array([number for number in moved if alive[number] and stored[number] >= 0], np.int64)
        self.cursor.execute(
            "UPDATE stated SET start_node = m.a, end_node = m.b "
            "FROM unnest(%s::bigint[], %s::int[], %s::int[]) AS m (id, a, b) WHERE stated.id = m.id",
            [stored[kept].tolist(), *(ids.ids(edges[end][kept]).tolist() for end in ("start", "end"))],
        )
        new = np.flatnonzero(alive & (stored < 0))
        nodes = (ids.ids(edges[name][new]).tolist() for name in ("document", "source", "target", "start", "end"))
        texts = ([self._text(text) for text in edges[name][new].tolist()] for name in _STATED_TEXTS)
        numbers = (edges[name][new].tolist() for name in ("type", "weight", "flags"))
        self.cursor.execute(
            "INSERT INTO stated (document, source, target, start_node, end_node, source_text, target_text, label, "
            "type, weight, flags) SELECT * FROM unnest(%s::int[], %s::int[], %s::int[], %s::int[], %s::int[], "
            "%s::text[], %s::text[], %s::text[], %s::smallint[], %s::float8[], %s::smallint[])",
            [*nodes, *texts, *numbers],
        )

    def _text(self, number: int) -> str | None:
        return None if number < 0 else self.tables.texts[number]

    def _save_declared(self) -> None:
        part, columns = self.part, self.tables.declared
        known = len(part.declared_ids)
        gone = [
            id_ for id_, document in zip(part.declared_ids, columns["document"].tolist(), strict=False) if document < 0
        ]
        self.cursor.execute("DELETE FROM declared WHERE id = ANY(%s)", [gone])
        new = slice(known, None)
        spellings = [None if one < 0 else self.tables.spelled(one) for one in columns["spelling"][new].tolist()]
        self.cursor.execute(
            "INSERT INTO declared (node, document, payload, spelling) "
            "SELECT * FROM unnest(%s::int[], %s::int[], %s::text[], %s::text[])",
            [
                *(part.node_ids.ids(columns[name][new]).tolist() for name in ("node", "document")),
                [self._text(text) for text in columns["text"][new].tolist()],
                spellings,
            ],
        )

    def _save_edges(self) -> None:
        """Entries that were taken out and put in; of equal ones, copies are counted."""
        ids = self.part.node_ids
        signed = [(-1, one) for one in self.part.removed] + [(1, one) for one in self.part.added]
        columns = [np.concatenate([[], *(one[place] for _, one in signed)]) for place in range(4)]
        signs = np.concatenate([[], *(np.full(len(one[0]), sign) for sign, one in signed)])
        source, target, code, weight, copies = _summed(columns, signs)
        numbers = ids.ids(source.astype(np.int64)), ids.ids(target.astype(np.int64))
        self._copy_changes("edges", _EDGES, *numbers, code, weight, copies)

    def _save_near(self) -> None:
        near = self.tables.near
        lengths = near.lengths.values
        words = np.flatnonzero(lengths)
        counts, (nodes, signs) = near.gather(words)
        word, node, passages = _summed([np.repeat(words, counts), nodes], signs)
        ids = self.part.word_ids.ids(word.astype(np.int64)), self.part.node_ids.ids(node.astype(np.int64))
        self._copy_changes("near", _NEAR, *ids, passages)

    def _copy_changes(self, table: str, columns: Mapping[str, SqlType], *arrays: Array) -> None:
        """Add to the last column of rows; rows that come to nothing go."""
        if not len(arrays[0]):
            return
        *keys, total = columns
        self.cursor.execute(f"CREATE TEMP TABLE change_{table} (LIKE {table}) ON COMMIT DROP")
        copy_numbers(self.cursor, f"change_{table}", dict(columns), *arrays)
        same = " AND ".join(f"{table}.{key} = c.{key}" for key in keys)
        self.cursor.execute(
            f"DELETE FROM {table} USING change_{table} c WHERE c.{total} < 0 AND {same} "
            f"AND {table}.{total} + c.{total} <= 0"
        )
        self.cursor.execute(
            f"UPDATE {table} SET {total} = {table}.{total} + c.{total} FROM change_{table} c "
            f"WHERE c.{total} < 0 AND {same}"
        )
        self.cursor.execute(
            f"INSERT INTO {table} SELECT * FROM change_{table} WHERE {total} > 0 "
            f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {total} = {table}.{total} + excluded.{total}"
        )

    # Documents

    def _save_documents(self, rows: Sequence[Row], documents: Numbers, gone: Sequence[str]) -> None:
        self.cursor.execute("DELETE FROM documents WHERE id = ANY(%s)", [[*gone, *(row.document_id for row in rows)]])
        owners, words = self._words_of(documents)
        content_words = self.tables.words["flags"][words] & _NO_CONTENT_WORD == 0
        words_of = _grouped(owners[content_words], self.part.word_ids.ids(words[content_words]))
        counts, (spellings, *_) = self.tables.mentions.gather(documents)
        contributions = self.part.node_ids.ids(self.tables.spellings["node"][spellings])
        names_of = _grouped(np.repeat(documents, counts), contributions)
        with self.cursor.copy(
            "COPY documents (node, id, source, metadata, digest, payload, words, names, mentions, nearby) FROM STDIN"
        ) as copy:
            for row, number in zip(rows, documents.tolist(), strict=True):
                copy.write_row(
                    (
                        self.part.node_ids.id(number),
                        *row,
                        sorted(set(words_of.get(number, []))),
                        sorted(set(names_of.get(number, []))),
                        *self._resolved(number),
                    )
                )

    def _resolved(self, number: int) -> tuple[bytes, bytes]:
        """The mentions of a document, and the words next to them."""
        targets, codes, weights = self.tables.rows.row(number)
        own = codes & (MENTION | BACKWARD) == MENTION
        mentions = np.empty(int(own.sum()), MENTIONS)
        mentions["node"] = self.part.node_ids.ids(targets[own])
        mentions["type"], mentions["weight"] = codes[own] // 4, weights[own]
        nodes, words = self.tables.nearby.row(number)
        nearby = np.empty(len(nodes), NEARBY)
        nearby["node"], nearby["word"] = self.part.node_ids.ids(nodes), self.part.word_ids.ids(words)
        return mentions.tobytes(), nearby.tobytes()

    def _save_resolved(self, documents: Numbers) -> None:
        """What other documents than those that were added mention now."""
        rows = [(self.part.node_ids.id(number), *self._resolved(number)) for number in documents.tolist()]
        columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 3
        self.cursor.execute(
            "UPDATE documents SET mentions = r.mentions, nearby = r.nearby "
            "FROM unnest(%s::int[], %s::bytea[], %s::bytea[]) AS r (node, mentions, nearby) "
            "WHERE documents.node = r.node",
            columns,
        )

    # The rest

    def _clean(self) -> None:
        """Set the flags of topics, and remove nodes that nothing refers to any more."""
        ids = self.part.node_ids
        about = self.tables.type_code("about")
        topics = [id_ for number in self._topics if number >= 0 and (id_ := ids.id(number)) >= 0]
        self.cursor.execute(
            "UPDATE nodes SET topic = about > 0 OR EXISTS (SELECT 1 FROM stated WHERE end_node = nodes.id "
            "AND type = %s AND weight > 0) WHERE id = ANY(%s)",
            [about, topics],
        )
        idle = ids.known(len(self.tables.nodes))
        for name in ("about", "sure", "passages", "declared", "document", "edge_ends"):
            idle = idle[self.tables.nodes[name][idle] == 0]
        self.cursor.execute(
            "DELETE FROM nodes n WHERE id = ANY(%s) AND about = 0 AND sure = 0 AND passages = 0 AND declared = 0 "
            "AND document = 0 AND edge_ends = 0 AND (flags & 8) = 0 "
            "AND NOT EXISTS (SELECT 1 FROM spellings WHERE node = n.id) "
            "AND NOT EXISTS (SELECT 1 FROM stated WHERE source = n.id) "
            "AND NOT EXISTS (SELECT 1 FROM stated WHERE target = n.id) RETURNING id, name_key",
            [ids.ids(idle).tolist()],
        )
        gone = self.cursor.fetchall()
        keys = {key for _, key in gone if key is not None}
        self.cursor.execute("SELECT DISTINCT name_key FROM nodes WHERE name_key = ANY(%s)", [list(keys)])
        self.state["names"] -= len(keys) - len(self.cursor.fetchall())
        self.cursor.execute("DELETE FROM name_words WHERE node = ANY(%s)", [[id_ for id_, _ in gone]])
        save_vocabulary(self.cursor, (), keys)

    def _save_state(self) -> None:
        self.cursor.execute(
            "UPDATE state SET version = version + 1, documents = %s, nodes = %s, words = %s, names = %s, "
            "passages = %s, kinds = %s, edge_types = %s",
            [
                self.tables.documents,
                *(self.state[name] for name in ("nodes", "words", "names", "passages")),
                self.tables.kinds,
                self.tables.edge_types,
            ],
        )


_SPELLINGS = ("mentions", "about", "declared")
_STATED_TEXTS = ("source_text", "target_text", "label")
_NO_CONTENT_WORD = 4 | 8  # breaks of sentences and stop words


def _summed(columns: Sequence[Array], signs: Array) -> list[Array]:
    """Each distinct row of the columns once, with the sum of its signs, where that is not 0."""
    order = np.lexsort(tuple(columns)[::-1])
    ordered = [column[order] for column in columns]
    if not len(order):
        return [*ordered, signs]
    new = np.ones(len(order), np.bool_)
    new[1:] = np.any([np.diff(column) != 0 for column in ordered], axis=0)
    first = np.flatnonzero(new)
    sums = np.add.reduceat(signs[order], first)
    return [*(column[first[sums != 0]] for column in ordered), sums[sums != 0]]


def _grouped(owners: Array, values: Array) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for owner, value in zip(owners.tolist(), values.tolist(), strict=True):
        found.setdefault(owner, []).append(value)
    return found
