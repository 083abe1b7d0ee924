"""The part of a graph in PostgreSQL that a change needs, in the tables that `graph.build.changes.apply` works on."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from psycopg import Cursor

from hopweave.graph_store.backend import (
    ADDRESS,
    MENTION,
    NAMED,
    STOP,
    Array,
    ColumnTable,
    Contribution,
    Entries,
    GraphTables,
    Numbers,
    StatedParts,
    Texts,
    choose_spellings,
    decoded,
    distinct_rows,
    key_of_name,
    longer_phrases,
    normalise_name,
    number_contributions,
    passage_id,
    record,
    word_key,
)
from hopweave_postgres.numbering import MENTIONS, NEARBY, Ids, stored_word

NODE_SUMS = ("kind", "flags", "about", "sure", "passages", "declared", "document", "edge_ends")
"""Columns of nodes that are the same in the database and in the tables."""

_NODES = (
    "SELECT id, key, kind, flags, about, sure, passages, declared, document, edge_ends, leads_to, edges, name_key, "
    "description, topic FROM nodes"
)
_STATED = (
    "SELECT id, document, source, target, type, weight, flags, start_node, end_node, source_text, target_text, label "
    "FROM stated WHERE document = ANY(%(nodes)s) OR source = ANY(%(nodes)s) OR target = ANY(%(nodes)s)"
)
_TELLING = 3  # words of a name that a document must have to be looked through for it


class PartialTables:
    """Tables that hold a part of the graph with the sums of the whole, and what they were when they were loaded.

    It implements `Outside`: a change that needs more of the graph loads it here.
    """

    def __init__(self, cursor: Cursor[Any], state: dict[str, Any]) -> None:
        self._cursor = cursor
        self.tables = GraphTables()
        self.tables.kinds, self.tables.edge_types = list(state["kinds"]), list(state["edge_types"])
        self.tables.documents = state["documents"]
        self.node_ids, self.word_ids = Ids(), Ids()
        sums = dict.fromkeys((*NODE_SUMS, "leads_to", "edges", "topic"), np.int64)
        self.nodes_before = ColumnTable(sums)
        self.words_before = ColumnTable(dict.fromkeys(("lower", "upper", "near_documents", "documents"), np.int64))
        self.spellings_before = ColumnTable(dict.fromkeys(("mentions", "about", "declared"), np.int64))
        self.described: dict[int, tuple[str | None, str]] = {}
        self.old_words: Counter[int] = Counter()
        self.stated_ids: list[int] = []
        self.stated_before: list[tuple[int, int]] = []
        self.declared_ids: list[int] = []
        self.removed: list[Entries] = []
        self.added: list[Entries] = []
        self._asked_words = self._asked_nodes = 0
        self._complete: set[int] = set()
        self._documents: set[int] = set()
        self._described: set[int] = set()
        self._stated_known: set[int] = set()

    # Before the change

    def load(self, old: Sequence[tuple[Any, ...]], new: Sequence[Contribution]) -> None:
        """Load what the documents in these rows contributed, and all that they and the new contributions name."""
        tables = self.tables
        documents = self._load_rows(old)
        texts = Texts(tables, documents)
        self.old_words = Counter(distinct_rows(texts.text_of, texts.words)[1].tolist())
        number_contributions(tables, new, StatedParts(tables))
        self._settle()
        ends = {id_ for one in new for edge in one.edges for id_ in (edge.source, edge.target)}
        self._load_keys(map(_by_id, ends))
        own = [tables.node_keys.get(passage_id(one.document_id)) for one in new]
        changed = np.union1d(documents, np.array(own, np.int64))
        self._load_common_names(np.concatenate([texts.words, self._words_of(new)]))
        self.load_edges(changed)
        declared = self._declared_by(self.node_ids.stored(changed).tolist())
        self._load_spellings()
        self._load_declared(declared, self.node_ids.stored(changed).tolist())

    def _words_of(self, contributions: Sequence[Contribution]) -> Numbers:
        words = [word for one in contributions if one.words for word in one.words.split(" ")]
        folded: Numbers = self.tables.words["folded"][self.tables.word_numbers(words)].astype(np.int64)
        return folded

    def _load_common_names(self, words: Numbers) -> None:
        """Names that are a single word which may become common by this change, or cease to be."""
        distinct, counts = np.unique(words, return_counts=True)
        margin = self.tables.words["lower"][distinct].astype(np.int64) - self.tables.words["upper"][distinct]
        texts = [self.tables.word_strings[word] for word in distinct[np.abs(margin) <= counts].tolist()]
        self._load_nodes(f"{_NODES} WHERE name_key = ANY(%s)", texts)

    def _load_spellings(self) -> None:
        tables, found = self.tables, []
        self._described = set(range(len(tables.nodes)))
        ids = self.node_ids.stored(np.arange(len(tables.nodes)))
        self._cursor.execute(
            "SELECT node, text, mentions, about, declared FROM spellings WHERE node = ANY(%s)", [ids.tolist()]
        )
        for id_, text, *sums in self._cursor.fetchall():
            kind = tables.kinds[tables.nodes["kind"][self.node_ids.local[id_]]]
            found.append((tables.spelling_number(kind, text), *sums))
        self._settle()
        if found:
            numbers, *columns = (np.array(column) for column in zip(*found, strict=True))
            for name, column in zip(("mentions", "about", "declared"), columns, strict=True):
                tables.spellings[name][numbers] = self.spellings_before[name][numbers] = column
        choose_spellings(tables, np.arange(len(tables.nodes)))

    def _declared_by(self, documents: list[int]) -> list[tuple[Any, ...]]:
        self._cursor.execute(
            "SELECT id, node, document, payload, spelling FROM declared WHERE document = ANY(%s)", [documents]
        )
        own = self._cursor.fetchall()
        self._load_ids(row[1] for row in own)
        return own

    def _load_declared(self, own: Sequence[tuple[Any, ...]], documents: list[int]) -> None:
        """What the changed documents declare, and what others declare of nodes that are loaded."""
        tables = self.tables
        loaded = np.flatnonzero(tables.nodes["declared"] > 0)
        self._cursor.execute(
            "SELECT DISTINCT 0::bigint, node, -1, payload, spelling FROM declared "
            "WHERE node = ANY(%s) AND document <> ALL(%s)",
            [self.node_ids.stored(loaded).tolist(), documents],
        )
        rows = [*own, *self._cursor.fetchall()]
        nodes, owners, texts, spellings = [], [], [], []
        for _, node, document, payload, spelling in rows:
            number = self.node_ids.local[node]
            nodes.append(number)
            owners.append(number if document < 0 else self.node_ids.local[document])  # any number, so that it counts
            texts.append(tables.texts.add(payload))
            kind = tables.kinds[tables.nodes["kind"][number]]
            spellings.append(-1 if spelling is None else tables.spelling_number(kind, spelling))
        self._settle()
        if rows:
            first = tables.declared.append(len(rows), node=nodes, document=owners, text=texts, spelling=spellings)
            numbers = first + np.arange(len(rows))
            tables.declared_at.extend(np.array(nodes, np.int64), [numbers])
            tables.declared_by.extend(np.array(owners[: len(own)], np.int64), [numbers[: len(own)]])
        self.declared_ids = [row[0] for row in rows]

    # While the change goes on

    def load_documents(self, counted: Numbers, searched: Numbers, words: Numbers) -> Numbers:
        """Load the documents that say a name in `counted`, or whose text may have one in `searched` or a word."""
        phrases = [found for node in searched.tolist() if (found := self._content_words(node))]
        common = [word for word in self.word_ids.ids(words).tolist() if word >= 0]
        self._cursor.execute(
            "SELECT node FROM documents WHERE names && %s::int[] "
            "UNION SELECT node FROM documents WHERE words && %s::int[] "
            "UNION SELECT d.node FROM unnest(%s::int[], %s::int[], %s::int[]) AS p (a, b, c) "
            "JOIN documents d ON d.words @> ARRAY[p.a, p.b, p.c]",
            [
                self.node_ids.stored(counted).tolist(),
                common,
                *([list(column) for column in zip(*phrases, strict=True)] or [[], [], []]),
            ],
        )
        ids = [node for (node,) in self._cursor.fetchall()]
        new = [id_ for id_ in ids if self.node_ids.local.get(id_) not in self._documents]
        self._cursor.execute("SELECT node, id, payload, mentions, nearby FROM documents WHERE node = ANY(%s)", [new])
        self._load_rows(self._cursor.fetchall())
        return self.node_ids.locals(ids)

    def _content_words(self, node: int) -> tuple[int, ...]:
        """The rarest words of a name, by their numbers in the database; none if no document has them all."""
        tables = self.tables
        numbers = [tables.word_strings.get(word) for word in key_of_name(tables, node).split(" ")]
        content_words = [number for number in dict.fromkeys(numbers) if not tables.words["flags"][number] & STOP]
        ids = [self.word_ids.id(number) for number in content_words]
        if not ids or -1 in ids:
            return ()
        order = sorted(range(len(ids)), key=lambda place: int(self.words_before["documents"][content_words[place]]))
        rarest = [ids[place] for place in order[:_TELLING]]
        return tuple((rarest * _TELLING)[:_TELLING])

    def load_names(self, documents: Numbers) -> None:
        """Load the searched names that occur in the texts of these documents."""
        texts = Texts(self.tables, documents)
        distinct = np.unique(texts.words)
        words = {self.tables.word_strings[word]: word for word in distinct.tolist()}
        self._cursor.execute(
            "SELECT word, max(length) FROM name_words WHERE word = ANY(%s) AND length IS NOT NULL GROUP BY word",
            [list(words)],
        )
        longest = np.zeros(len(self.tables.words), np.int64)
        for word, length in self._cursor.fetchall():
            longest[words[word]] = length
        hashes = _phrases(self.tables, texts, longest)
        self._load_nodes(f"{_NODES} WHERE name_hash = ANY(%s) AND (flags & 4) > 0", hashes.view(np.int64).tolist())

    def load_anchors(self, nodes: Numbers) -> None:
        """Load the nodes at which edge ends may wait that lead to these nodes."""
        keys = []
        for node in nodes[self.tables.nodes["flags"][nodes] & NAMED == 0].tolist():
            kind, _, rest = self.tables.node_keys[node].partition(":")
            if rest and kind != "address":
                keys.append(ADDRESS + normalise_name(rest) if kind == "passage" else f"{kind}:{word_key(rest)}")
        self._load_keys(keys)

    def load_edges(self, nodes: Numbers) -> None:
        """Load the stated edges at these nodes and of these documents, with the nodes that they may lead to."""
        wanted = [node for node in nodes.tolist() if node not in self._complete]
        self._complete.update(wanted)
        ids = self.node_ids.stored(np.array(wanted, np.int64))
        if not len(ids):
            return
        self._cursor.execute(_STATED, {"nodes": ids.tolist()})
        rows = [row for row in self._cursor.fetchall() if row[0] not in self._stated_known]
        self._stated_known.update(row[0] for row in rows)
        self._load_ids(id_ for row in rows for id_ in (*row[1:4], *row[7:9]) if id_ >= 0)
        self._load_keys({_by_id(text) for row in rows for text in row[9:11] if text is not None})
        if rows:
            self._add_stated(rows)

    def change_rows(self, removed: Entries, added: Entries) -> None:
        """Take note of entries of `rows` that are taken out and put in."""
        self.removed.append(removed)
        self.added.append(added)

    def pad_stated(self) -> None:
        """Note that the stated edges which this change has added are not stored yet."""
        added = len(self.tables.edges) - len(self.stated_ids)
        self.stated_ids += [-1] * added
        self.stated_before += [(-1, -1)] * added

    @property
    def complete_nodes(self) -> list[int]:
        """The nodes of which all is loaded that describes them."""
        address = self.tables.kind_code("address")
        addresses = {node for node in self._complete if self.tables.nodes["kind"][node] == address}
        return sorted(self._described | addresses)

    # Inside

    def _add_stated(self, rows: Sequence[tuple[Any, ...]]) -> None:
        tables = self.tables
        columns = list(zip(*rows, strict=True))
        documents, sources, targets, starts, ends = (self.node_ids.locals(columns[place]) for place in (1, 2, 3, 7, 8))
        texts = [[-1 if text is None else tables.texts.add(text) for text in columns[place]] for place in (9, 10, 11)]
        self.pad_stated()
        first = tables.edges.append(
            len(rows),
            document=documents,
            source=sources,
            target=targets,
            source_text=texts[0],
            target_text=texts[1],
            type=columns[4],
            weight=columns[5],
            label=texts[2],
            flags=columns[6],
            start=starts,
            end=ends,
        )
        numbers = first + np.arange(len(rows))
        self.stated_ids += columns[0]
        self.stated_before += list(zip(starts.tolist(), ends.tolist(), strict=True))
        tables.edges_of.extend(documents, [numbers])
        apart = sources != targets
        tables.edges_at.extend(np.concatenate([sources, targets[apart]]), [np.concatenate([numbers, numbers[apart]])])

    def _load_rows(self, rows: Sequence[tuple[Any, ...]]) -> Numbers:
        """Load documents from rows of node, id, payload, mentions and words next to them."""
        tables = self.tables
        contributions = number_contributions(tables, [decoded(id_, payload) for _, id_, payload, _, _ in rows])
        self._settle()
        mentions = [np.frombuffer(row[3], MENTIONS) for row in rows]
        nearby = [np.frombuffer(row[4], NEARBY) for row in rows]
        self._load_ids(np.concatenate([[], *(one["node"] for one in (*mentions, *nearby))]).astype(int).tolist())
        record(tables, contributions)
        self._documents.update(contributions.documents.tolist())
        if rows:
            every = np.concatenate(mentions)
            codes = every["type"].astype(np.int64) * 4 + MENTION
            targets = self.node_ids.locals(every["node"].tolist())
            tables.rows.replace(contributions.documents, _lengths(mentions), [targets, codes, every["weight"]])
            near = np.concatenate(nearby)
            fields = self.node_ids.locals(near["node"].tolist()), self.word_ids.locals(near["word"].tolist())
            tables.nearby.replace(contributions.documents, _lengths(nearby), fields)
        return contributions.documents

    def _settle(self) -> None:
        """Make room for what was registered, and load the rows of it that exist."""
        tables = self.tables
        tables.settle()
        self.grow()
        keys = [tables.node_keys[number] for number in range(self._asked_nodes, len(tables.nodes))]
        self._load_keys(keys)
        self._load_words()

    def _load_words(self) -> None:
        tables = self.tables
        numbers = range(self._asked_words, len(tables.words))
        folded = [number for number in numbers if tables.words["folded"][number] == number]
        self._asked_words = len(tables.words)
        texts = {stored_word(tables.word_strings[number]): number for number in folded}
        self._cursor.execute(
            "SELECT id, text, lower_case, upper_case, near_documents, documents FROM words WHERE text = ANY(%s)",
            [list(texts)],
        )
        for id_, text, lower, upper, near, documents in self._cursor.fetchall():
            number = texts[text]
            self.word_ids.add(number, id_)
            before = self.words_before
            tables.words["lower"][number] = before["lower"][number] = lower
            tables.words["upper"][number] = before["upper"][number] = upper
            tables.words["near_documents"][number] = before["near_documents"][number] = near
            before["documents"][number] = documents

    def _load_keys(self, keys: Iterable[str]) -> None:
        known = self.tables.node_keys
        wanted = [key for key in dict.fromkeys(keys) if known.get(key) < 0 or known.get(key) >= self._asked_nodes]
        self._load_nodes(f"{_NODES} WHERE key = ANY(%s)", wanted)

    def _load_ids(self, ids: Iterable[int]) -> None:
        wanted = [id_ for id_ in dict.fromkeys(ids) if id_ not in self.node_ids.local]
        self._load_nodes(f"{_NODES} WHERE id = ANY(%s)", wanted)

    def _load_nodes(self, query: str, wanted: Sequence[Any]) -> None:
        """Load the nodes that a query finds and that are not loaded yet."""
        tables = self.tables
        if wanted:
            self._cursor.execute(query.encode(), [list(wanted)])
            rows = [row for row in self._cursor.fetchall() if row[0] not in self.node_ids.local]
        else:
            rows = []
        numbers = []
        for id_, key, kind, flags, *_ in rows:
            name = tables.kinds[kind]
            number = tables.key_node(name, key[len(name) + 1 :]) if flags & NAMED else tables.node_number(key, name)
            self.node_ids.add(number, id_)
            numbers.append(number)
        tables.settle()
        self.grow()
        self._asked_nodes = len(tables.nodes)
        self._load_words()
        if rows:
            self._set_columns(np.array(numbers, np.int64), rows)

    def _set_columns(self, numbers: Numbers, rows: Sequence[tuple[Any, ...]]) -> None:
        columns = list(zip(*rows, strict=True))
        for name, values in zip(NODE_SUMS, columns[2:], strict=False):
            self.tables.nodes[name][numbers] = self.nodes_before[name][numbers] = values
        leads_to, edges, names, descriptions, topics = columns[2 + len(NODE_SUMS) :]
        self._load_ids(id_ for id_ in leads_to if id_ >= 0)
        self.tables.nodes["leads_to"][numbers] = self.nodes_before["leads_to"][numbers] = self.node_ids.locals(leads_to)
        self.nodes_before["edges"][numbers] = edges
        self.nodes_before["topic"][numbers] = topics
        self.described.update(zip(numbers.tolist(), zip(names, descriptions, strict=True), strict=True))

    def grow(self) -> None:
        """Make room for what was loaded of nodes, words and spellings that were added to the tables."""
        for table, before in (
            (self.tables.nodes, self.nodes_before),
            (self.tables.words, self.words_before),
            (self.tables.spellings, self.spellings_before),
        ):
            before.append(len(table) - len(before))


def _by_id(id_: str) -> str:
    """The key of the node that has exactly this id, or of the document that an address gives by its id."""
    return passage_id(id_.removeprefix(ADDRESS)) if id_.startswith(ADDRESS) else id_


def _lengths(parts: Sequence[Array]) -> Numbers:
    return np.array([len(part) for part in parts], np.int64)


def _phrases(tables: GraphTables, texts: Texts, longest: Numbers) -> Array:
    """The hashes of all phrases of the texts that are as long as some name that begins with the same word."""
    hashes, limits = tables.word_strings.hashes[texts.words], longest[texts.words]
    places, phrases = np.arange(len(texts.words)), np.zeros(len(texts.words), np.uint64)
    found, length = [np.empty(0, np.uint64)], 0
    while True:
        kept = (limits[places] > length) & (places + length < texts.ends[texts.text_of[places]])
        places, phrases = places[kept], phrases[kept]
        if not len(places):
            return np.unique(np.concatenate(found))
        phrases = longer_phrases(phrases, hashes[places + length])
        found.append(phrases)
        length += 1
