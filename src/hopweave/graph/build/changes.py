"""Brings the tables of a graph up to date when documents are added, changed or taken out.

Everything that depends on the whole corpus is a sum. So the sums of the words and names that a document uses are
changed first; from these follow the names that begin or cease to count or to be searched; and only the documents that
use such a name are resolved again, together with the changed ones. Building a graph from nothing is the same with all
documents at once. The outcome depends on the contributions alone, never on the order or history in which they came.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from hopweave.graph.build import explicit
from hopweave.graph.build.entity_resolution import (
    EntityResolution,
    documents_with_name,
    is_present,
    name_flags,
    resolved_mentions,
)
from hopweave.graph.build.mentions import add_mention_sums, choose_spellings, mention_columns, stated_mentions
from hopweave.graph.build.name_search import Texts, add_letter_counts, distinct_rows
from hopweave.graph.model import Contribution, passage_id
from hopweave.graph.storage.cooccurrence import stem_hash
from hopweave.graph.storage.describe import describe
from hopweave.graph.storage.ledger import check_weights
from hopweave.graph.storage.tables import (
    BACKWARD,
    COUNTS,
    HAS_TEXT,
    MENTION,
    PRESENT,
    RECORDED,
    SEARCHED,
    GraphTables,
)
from hopweave.storage.columns import Array, Numbers, distinct

Entries = tuple[Array, ...]
"""Entries of `rows` in columns: node, target, code and weight."""


def apply(
    tables: GraphTables,
    contributions: Iterable[Contribution],
    gone: Iterable[str] = (),
    settings: EntityResolution | None = None,
) -> None:
    """Replace what these documents contributed, and remove the contributions of documents that are gone.

    >>> from hopweave.graph.model import Mention
    >>> tables = GraphTables()
    >>> apply(tables, [Contribution("a", mentions=(Mention("Skua", "about"),)), Contribution("b", words="aboard Skua")])
    >>> skua = tables.node_keys.get("entity:skua")
    >>> [tables.node_keys[node] for node in tables.rows.row(skua)[0]]
    ['passage:a', 'passage:b']
    >>> apply(tables, [], gone=["a"])
    >>> tables.rows.row(skua)[0].tolist()
    []
    """
    _Change(tables, list(contributions), list(gone), settings or EntityResolution()).run()


class _Change:
    """One change of the tables, step by step."""

    def __init__(
        self,
        tables: GraphTables,
        contributions: Sequence[Contribution],
        gone: Sequence[str],
        settings: EntityResolution,
    ) -> None:
        self.tables, self.settings = tables, settings
        self.contributions = {one.document_id: one for one in contributions}
        self.gone = [id_ for id_ in dict.fromkeys(gone) if id_ not in self.contributions]

    def run(self) -> None:
        """All steps in order."""
        tables = self.tables
        tables.is_whole, tables.dead_end_share = False, self.settings.dead_end_share
        documents, texts, mentions, stated = self._read()
        tables.settle()
        old_gone = [tables.node_keys.get(passage_id(id_)) for id_ in self.gone]
        gone = np.array([number for number in old_gone if number >= 0], np.int64)
        changed = np.concatenate([documents, gone])
        words = distinct(tables.words["folded"][texts[0]], Texts(tables, changed).words)
        was_common = tables.common(words)
        before = self._pairs(changed)

        named = [add_mention_sums(tables, changed, -1)]
        add_letter_counts(tables, Texts(tables, changed), -1)
        old_edges, undeclared = explicit.withdraw(tables, changed)
        self._record(documents, gone, texts, mentions)
        named.append(add_mention_sums(tables, changed, +1))
        add_letter_counts(tables, Texts(tables, changed), +1)
        new_edges, declared = stated.add()
        self._add_pairs(before, self._pairs(changed))

        edges, declared = np.concatenate([old_edges, new_edges]), distinct(undeclared, declared)
        common_nodes, common_documents = self._common_words(words[was_common != tables.common(words)])
        touched = distinct(*named, declared, common_nodes)
        affected = self._update_names(touched, changed, common_documents)
        counted = self._update_mentions(affected)
        choose_spellings(tables, touched)
        nodes = distinct(changed, touched, counted)
        self._update_edges(nodes, edges)
        for node in distinct(changed, declared).tolist():
            if tables.nodes["spelling"][node] < 0 and tables.nodes["flags"][node] & PRESENT:
                tables.set_name(node, describe(tables, node).name)
        tables.settle()
        tables.changes += len(changed)
        tables.is_whole = True

    def _read(self) -> tuple[Numbers, tuple[Numbers, Numbers], tuple[Array, ...], explicit.StatedParts]:
        """What the new contributions say, in numbers: documents, texts, mentions, and what they state outright."""
        tables, stated = self.tables, explicit.StatedParts(self.tables)
        documents, words = [], []
        for id_, one in self.contributions.items():
            document = tables.node_number(passage_id(id_), "passage")
            documents.append(document)
            words.append(tables.word_numbers(one.words.split(" ") if one.words else []))
            stated.read(document, one)
            if any(not 0 <= edge.weight < np.inf for edge in one.edges):
                check_weights(one)
        columns = mention_columns(tables, chain.from_iterable(one.mentions for one in self.contributions.values()))
        self._check_weights(columns[3])
        counts = np.array([len(one.mentions) for one in self.contributions.values()], np.int64)
        texts = np.concatenate([np.empty(0, np.int64), *words]), np.array([len(one) for one in words], np.int64)
        return np.array(documents, np.int64), texts, (counts, *columns), stated

    def _check_weights(self, weights: Array) -> None:
        if not ((weights >= 0) & (weights < np.inf)).all():
            for one in self.contributions.values():
                check_weights(one)

    def _record(
        self, documents: Numbers, gone: Numbers, texts: tuple[Numbers, Numbers], mentions: tuple[Array, ...]
    ) -> None:
        tables, flags = self.tables, self.tables.nodes["document"]
        before = int((flags[np.concatenate([documents, gone])] & RECORDED).sum())
        tables.has_leftovers |= before > 0
        words, lengths = texts
        counts, *columns = mentions
        flags[gone] = 0
        flags[documents] = RECORDED + HAS_TEXT * ((lengths > 0) | (counts > 0))
        tables.documents += len(documents) - before
        tables.text.replace(documents, lengths, [words])
        tables.mentions.replace(documents, counts, columns)
        nothing = np.zeros(len(gone), np.int64)
        tables.text.replace(gone, nothing, [[]])
        tables.mentions.replace(gone, nothing, [[], [], [], []])

    def _pairs(self, documents: Numbers) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Which documents have which words, and say which names."""
        texts = Texts(self.tables, documents)
        kept = ~(texts.stops | texts.breaks)
        _, stated = stated_mentions(self.tables, documents)
        words = distinct_rows(texts.words[kept], texts.documents[texts.text_of[kept]])
        return words, distinct_rows(stated.nodes, stated.documents)

    def _add_pairs(self, before: tuple[tuple[Array, ...], ...], after: tuple[tuple[Array, ...], ...]) -> None:
        """Pairs that are gone stay listed: what is listed is only where to look."""
        for rows, old, new in zip((self.tables.documents_with, self.tables.mentioned_in), before, after, strict=True):
            owners, documents = _differences(old, new)[1]
            rows.extend(owners, [documents])

    def _common_words(self, words: Numbers) -> tuple[Numbers, list[Array]]:
        """The names that are one of these words, and documents with them, for words that became common or ceased to."""
        tables = self.tables
        places, nodes = tables.names.find_many(tables.word_strings.hashes[words])
        kept = tables.nodes["word"][nodes] == words[places]
        places, nodes = places[kept], nodes[kept]
        searched = distinct(words[places[tables.nodes["flags"][nodes] & SEARCHED > 0]])
        return nodes, [tables.documents_with.row(word)[0] for word in searched.tolist()]

    def _update_names(self, nodes: Numbers, changed: Numbers, documents: list[Array]) -> Numbers:
        """Set the flags of names; the documents that have to be resolved again."""
        tables = self.tables
        flags = name_flags(tables, nodes, self.settings)
        flipped = tables.nodes["flags"][nodes] ^ flags
        tables.nodes["flags"][nodes] = flags
        if len(self.contributions) == tables.documents:
            return changed  # every document there is
        mentioning = tables.mentioned_in.gather(nodes[flipped & COUNTS > 0])[1][0]
        searched = [documents_with_name(tables, node) for node in nodes[flipped & SEARCHED > 0].tolist()]
        return distinct(changed, mentioning, *searched, *documents).astype(np.int64)

    def _update_mentions(self, documents: Numbers) -> Numbers:
        """Resolve the mentions of documents and the words next to names; the nodes that have other mentions now."""
        tables = self.tables
        mentions, nearby = resolved_mentions(tables, documents, self.settings)
        old = _entries(tables, documents)
        own = old[2] & (MENTION | BACKWARD) == MENTION
        before = [column[own] for column in old]
        after = (mentions.documents, mentions.nodes, mentions.types * 4 + MENTION, mentions.weights)
        removed, added = _differences(before, after)
        np.add.at(tables.nodes["passages"], removed[1], -1)
        np.add.at(tables.nodes["passages"], added[1], +1)
        _change_rows(tables, _both_ways(removed), _both_ways(added))
        self._update_nearby(documents, nearby)
        return distinct(removed[1], added[1])

    def _update_nearby(self, documents: Numbers, after: tuple[Array, ...]) -> None:
        tables = self.tables
        counts, (nodes, words) = tables.nearby.gather(documents)
        before = (np.repeat(documents, counts), nodes.astype(np.int64), words.astype(np.int64))
        for sign, rows in ((-1, before), (+1, after)):
            np.add.at(tables.words["near_documents"], distinct_rows(rows[0], rows[2])[1], sign)
        removed, added = _differences(before, after)
        new_words = distinct(added[2])
        for word in new_words[tables.near.lengths.values[new_words] == 0].tolist():
            tables.stems.add(stem_hash(tables.word_strings[word]), word)
        tables.near.extend(
            np.concatenate([removed[2], added[2]]),
            [np.concatenate([removed[1], added[1]]), np.repeat([-1, 1], [len(removed[0]), len(added[0])])],
        )
        moved = distinct(removed[0], added[0])
        kept = np.isin(after[0], moved)
        lengths = np.bincount(np.searchsorted(moved, after[0][kept]), minlength=len(moved))
        tables.nearby.replace(moved, lengths, [after[1][kept], after[2][kept]])

    def _update_edges(self, nodes: Numbers, edges: Numbers) -> None:
        """Bring nodes into the graph or take them out, and lead the edges that depend on them."""
        tables = self.tables
        flags = tables.nodes["flags"]
        plain = nodes[tables.nodes["kind"][nodes] != tables.kind_code("address")]
        present = is_present(tables, plain)
        flipped = plain[(flags[plain] & PRESENT > 0) != present]
        flags[plain] = (flags[plain] & ~np.uint8(PRESENT)) | (PRESENT * present).astype(np.uint8)
        addresses = nodes[tables.nodes["kind"][nodes] == tables.kind_code("address")]
        addresses = distinct(addresses, explicit.addresses_touched_by(tables, flipped, edges))
        moved = explicit.follow_addresses(tables, addresses)
        dirty = distinct(explicit.edges_touched_by(tables, distinct(flipped, moved)), edges)
        old = tables.edges["start"][dirty].astype(np.int64), tables.edges["end"][dirty].astype(np.int64)
        new = explicit.lead_edges(tables, dirty)
        codes, weights = tables.edges["type"][dirty].astype(np.int64) * 4, tables.edges["weight"][dirty]
        differs = (old[0] != new[0]) | (old[1] != new[1])
        was, is_now = differs & (old[0] >= 0), differs & (new[0] >= 0)
        tables.edges["start"][dirty], tables.edges["end"][dirty] = new
        _change_rows(
            tables,
            _both_ways((old[0][was], old[1][was], codes[was], weights[was])),
            _both_ways((new[0][is_now], new[1][is_now], codes[is_now], weights[is_now])),
        )


def _both_ways(entries: Sequence[Array]) -> Entries:
    """Entries for both ends of edges."""
    sources, targets, codes, weights = entries
    return (
        np.concatenate([sources, targets]),
        np.concatenate([targets, sources]),
        np.concatenate([codes, codes + BACKWARD]),
        np.concatenate([weights, weights]),
    )


def _entries(tables: GraphTables, nodes: Array) -> Entries:
    """All entries of the rows of nodes."""
    counts, (targets, codes, weights) = tables.rows.gather(nodes)
    return np.repeat(nodes, counts), targets.astype(np.int64), codes.astype(np.int64), weights


def _change_rows(tables: GraphTables, removed: Entries, added: Entries) -> None:
    """Take entries out of the rows of nodes and put others in."""
    shrunk = distinct(removed[0])
    if len(shrunk):
        rest = _differences(removed, _entries(tables, shrunk))[1]
        also = np.isin(added[0], shrunk)
        both = [np.concatenate([one, other[also]]) for one, other in zip(rest, added, strict=True)]
        order = np.argsort(both[0], kind="stable")
        owners, *fields = (column[order] for column in both)
        lengths = np.bincount(np.searchsorted(shrunk, owners), minlength=len(shrunk))
        tables.rows.replace(shrunk, lengths, fields)
        added = tuple(column[~also] for column in added)
    tables.rows.extend(added[0], added[1:])


def _differences(before: Sequence[Array], after: Sequence[Array]) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The rows that only `before` has and those that only `after` has; of equal rows, one cancels one.

    >>> one, two = (np.array([1, 1, 2]), np.array([5, 5, 6])), (np.array([1, 3]), np.array([5, 7]))
    >>> [[column.tolist() for column in part] for part in _differences(one, two)]
    [[[1, 2], [5, 6]], [[3], [7]]]
    """
    if not len(before[0]) or not len(after[0]):
        return tuple(before), tuple(after)
    ranked = [(*part, _ranks(part)) for part in (before, after)]
    columns = [np.concatenate(both) for both in zip(*ranked, strict=True)]
    order = np.lexsort(columns[::-1])
    same = np.ones(len(order) - 1, dtype=bool)
    for column in columns:
        same &= np.diff(column[order]) == 0
    single = np.ones(len(order), dtype=bool)
    single[1:] &= ~same
    single[:-1] &= ~same
    kept = np.zeros(len(order), dtype=bool)
    kept[order] = single
    size = len(before[0])
    return tuple(c[kept[:size]] for c in before), tuple(c[kept[size:]] for c in after)


def _ranks(columns: Sequence[Array]) -> Numbers:
    """How many equal rows come before each row."""
    order = np.lexsort(tuple(columns)[::-1])
    new = np.ones(len(order), dtype=bool)
    new[1:] = np.any([np.diff(column[order]) != 0 for column in columns], axis=0)
    first = np.flatnonzero(new)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    return ranks
