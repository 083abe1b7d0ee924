"""Brings the tables of a graph up to date when documents are added, changed or taken out.

Everything that depends on the whole corpus is a sum. So the sums of the words and names that a document uses are
changed first; from these follow the names that begin or cease to count or to be searched; and only the documents that
use such a name are resolved again, together with the changed ones. Building a graph from nothing is the same with all
documents at once. The outcome depends on the contributions alone, never on the order or history in which they came.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, Protocol

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
from hopweave.graph.storage.ledger import check_weights
from hopweave.graph.storage.table_graph import describe
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

_AT_ONCE = 50  # contributions that are read together; small enough to be freed before a garbage collection

Entries = tuple[Array, ...]
"""Entries of `rows` in columns: node, target, code and weight."""


class Outside(Protocol):
    """The rest of a graph of which the tables hold a part, for a graph that lives in a database.

    Before a change reads something that may not be in the tables, it asks for it here. What is loaded has the sums of
    the whole graph, so the change comes to the same result as with the whole graph in the tables.
    """

    def load_documents(self, counted: Numbers, searched: Numbers, words: Numbers) -> Numbers:
        """Load the documents that say a name in `counted`, or whose text may have one in `searched` or a word."""
        ...

    def load_names(self, documents: Numbers) -> None:
        """Load the searched names that occur in the texts of these documents."""
        ...

    def load_anchors(self, nodes: Numbers) -> None:
        """Load the nodes at which edge ends may wait that lead to these nodes."""
        ...

    def load_edges(self, nodes: Numbers) -> None:
        """Load the stated edges at these nodes and of these documents, with the nodes that they may lead to."""
        ...

    def change_rows(self, removed: Entries, added: Entries) -> None:
        """Take note of entries of `rows` that are taken out and put in."""
        ...


def apply(
    tables: GraphTables,
    contributions: Iterable[Contribution],
    gone: Iterable[str] = (),
    settings: EntityResolution | None = None,
    outside: Outside | None = None,
) -> Numbers:
    """Replace what these documents contributed, and remove the contributions of documents that are gone.

    Contributions are read one after the other and not kept; each document may have one. Returns the documents that
    were resolved: the changed ones and those that use a name whose status changed.

    >>> from hopweave.graph.model import Mention
    >>> tables = GraphTables()
    >>> both = [Contribution("a", mentions=(Mention("Skua", "about"),)), Contribution("b", words="aboard Skua")]
    >>> len(apply(tables, both))
    2
    >>> skua = tables.node_keys.get("entity:skua")
    >>> [tables.node_keys[node] for node in tables.rows.row(skua)[0]]
    ['passage:a', 'passage:b']
    >>> len(apply(tables, [], gone=["a"]))
    2
    >>> tables.rows.row(skua)[0].tolist()
    []
    """
    return _Change(tables, contributions, gone, settings or EntityResolution(), outside).run()


class Numbered(NamedTuple):
    """What contributions say, in numbers.

    Documents, their words end to end and how many each has, how many mentions each has, and these in columns:
    spelling, type, confidence and weight.
    """

    documents: Numbers
    words: Numbers
    lengths: Numbers
    counts: Numbers
    mentions: tuple[Array, ...]


def number_contributions(
    tables: GraphTables, contributions: Iterable[Contribution], stated: explicit.StatedParts | None = None
) -> Numbered:
    """Number what contributions say; nodes and edges that are stated outright are collected in `stated`."""
    documents: dict[int, None] = {}
    words, columns, lengths, counts = [np.empty(0, np.int64)], [mention_columns(tables, [])], list[int](), list[int]()
    stream = iter(contributions)
    while some := list(islice(stream, _AT_ONCE)):
        texts = [tables.word_numbers(one.words.split(" ") if one.words else []) for one in some]
        for one in some:
            document = tables.node_number(passage_id(one.document_id), "passage")
            if document in documents:
                raise ValueError(f"document {one.document_id!r} contributes twice, but may do so once")
            documents[document] = None
            counts.append(len(one.mentions))
            if stated is not None:
                stated.read(document, one)
        words.append(np.concatenate(texts))
        lengths += map(len, texts)
        columns.append(mention_columns(tables, [mention for one in some for mention in one.mentions]))
        _check_weights(some, columns[-1][3])
    return Numbered(
        np.array([*documents], np.int64),
        np.concatenate(words),
        np.array(lengths, np.int64),
        np.array(counts, np.int64),
        tuple(np.concatenate(column) for column in zip(*columns, strict=True)),
    )


def _check_weights(contributions: Iterable[Contribution], mention_weights: Array) -> None:
    fine = bool(((mention_weights >= 0) & (mention_weights < np.inf)).all())
    for one in contributions:
        if one.edges or not fine:
            check_weights(one)


def record(tables: GraphTables, numbered: Numbered) -> None:
    """Put texts and mentions of documents into the tables; sums are not changed."""
    has_text = (numbered.lengths > 0) | (numbered.counts > 0)
    tables.nodes["document"][numbered.documents] = RECORDED + HAS_TEXT * has_text
    tables.text.replace(numbered.documents, numbered.lengths, [numbered.words])
    tables.mentions.replace(numbered.documents, numbered.counts, numbered.mentions)


class _Change:
    """One change of the tables, step by step."""

    def __init__(
        self,
        tables: GraphTables,
        contributions: Iterable[Contribution],
        gone: Iterable[str],
        settings: EntityResolution,
        outside: Outside | None,
    ) -> None:
        self.tables, self.settings, self.outside = tables, settings, outside
        self.contributions, self.gone = contributions, gone

    def run(self) -> Numbers:
        """All steps in order; the documents that were resolved."""
        tables = self.tables
        tables.is_whole, tables.dead_end_share = False, self.settings.dead_end_share
        stated = explicit.StatedParts(tables)
        new = number_contributions(tables, self.contributions, stated)
        tables.settle()
        known = {tables.node_keys.get(passage_id(id_)) for id_ in self.gone}
        gone = np.array(sorted(known.difference(new.documents.tolist(), [-1])), np.int64)
        changed = np.concatenate([new.documents, gone])
        words = distinct(tables.words["folded"][new.words], Texts(tables, changed).words)
        was_common = tables.common(words)
        before = self._pairs(changed)

        named = [add_mention_sums(tables, changed, -1)]
        add_letter_counts(tables, Texts(tables, changed), -1)
        old_edges, undeclared = explicit.withdraw(tables, changed)
        self._record(new, gone)
        named.append(add_mention_sums(tables, changed, +1))
        add_letter_counts(tables, Texts(tables, changed), +1)
        new_edges, declared = stated.add()
        self._add_pairs(before, self._pairs(changed))

        edges, declared = np.concatenate([old_edges, new_edges]), distinct(undeclared, declared)
        common_nodes, common_words = self._common_words(words[was_common != tables.common(words)])
        touched = distinct(*named, declared, common_nodes)
        affected = self._update_names(touched, changed, common_words)
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
        return affected

    def _record(self, new: Numbered, gone: Numbers) -> None:
        tables, flags = self.tables, self.tables.nodes["document"]
        before = int((flags[np.concatenate([new.documents, gone])] & RECORDED).sum())
        tables.has_leftovers |= before > 0
        tables.documents += len(new.documents) - before
        flags[gone] = 0
        record(tables, new)
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

    def _common_words(self, words: Numbers) -> tuple[Numbers, Numbers]:
        """The names that are one of these words, and the words among them that are searched in texts."""
        tables = self.tables
        places, nodes = tables.names.find_many(tables.word_strings.hashes[words])
        kept = tables.nodes["word"][nodes] == words[places]
        places, nodes = places[kept], nodes[kept]
        searched = distinct(words[places[tables.nodes["flags"][nodes] & SEARCHED > 0]])
        return nodes, searched

    def _update_names(self, nodes: Numbers, changed: Numbers, words: Numbers) -> Numbers:
        """Set the flags of names; the documents that have to be resolved again.

        `words` are those that became common or ceased to be.
        """
        tables = self.tables
        flags = name_flags(tables, nodes, self.settings)
        flipped = tables.nodes["flags"][nodes] ^ flags
        tables.nodes["flags"][nodes] = flags
        if np.count_nonzero(tables.nodes["document"][changed]) == tables.documents:
            return changed  # every document there is
        counted, searched = nodes[flipped & COUNTS > 0], nodes[flipped & SEARCHED > 0]
        if self.outside is not None:
            found = [self.outside.load_documents(counted, searched, words)]
        else:
            found = [tables.mentioned_in.gather(counted)[1][0]]
            found += [documents_with_name(tables, node) for node in searched.tolist()]
            found += [tables.documents_with.row(word)[0] for word in words.tolist()]
        return distinct(changed, *found).astype(np.int64)

    def _update_mentions(self, documents: Numbers) -> Numbers:
        """Resolve the mentions of documents and the words next to names; the nodes that have other mentions now."""
        tables = self.tables
        if self.outside is not None:
            self.outside.load_names(documents)
        mentions, nearby = resolved_mentions(tables, documents, self.settings)
        old = entries(tables, documents)
        own = old[2] & (MENTION | BACKWARD) == MENTION
        before = [column[own] for column in old]
        after = (mentions.documents, mentions.nodes, mentions.types * 4 + MENTION, mentions.weights)
        removed, added = _differences(before, after)
        np.add.at(tables.nodes["passages"], removed[1], -1)
        np.add.at(tables.nodes["passages"], added[1], +1)
        self._change_rows(_both_ways(removed), _both_ways(added))
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
        if self.outside is not None:
            self.outside.load_anchors(flipped)
            self.outside.load_edges(flipped)
        addresses = distinct(addresses, explicit.addresses_touched_by(tables, flipped, edges))
        if self.outside is not None:
            self.outside.load_edges(addresses)
        moved = explicit.follow_addresses(tables, addresses)
        dirty = distinct(explicit.edges_touched_by(tables, distinct(flipped, moved)), edges)
        old = tables.edges["start"][dirty].astype(np.int64), tables.edges["end"][dirty].astype(np.int64)
        new = explicit.lead_edges(tables, dirty)
        codes, weights = tables.edges["type"][dirty].astype(np.int64) * 4, tables.edges["weight"][dirty]
        differs = (old[0] != new[0]) | (old[1] != new[1])
        was, is_now = differs & (old[0] >= 0), differs & (new[0] >= 0)
        tables.edges["start"][dirty], tables.edges["end"][dirty] = new
        self._change_rows(
            _both_ways((old[0][was], old[1][was], codes[was], weights[was])),
            _both_ways((new[0][is_now], new[1][is_now], codes[is_now], weights[is_now])),
        )

    def _change_rows(self, removed: Entries, added: Entries) -> None:
        """Take entries out of the rows of nodes and put others in."""
        if self.outside is not None:
            self.outside.change_rows(removed, added)
        tables = self.tables
        shrunk = distinct(removed[0])
        if len(shrunk):
            rest = _differences(removed, entries(tables, shrunk))[1]
            also = np.isin(added[0], shrunk)
            both = [np.concatenate([one, other[also]]) for one, other in zip(rest, added, strict=True)]
            order = np.argsort(both[0], kind="stable")
            owners, *fields = (column[order] for column in both)
            lengths = np.bincount(np.searchsorted(shrunk, owners), minlength=len(shrunk))
            tables.rows.replace(shrunk, lengths, fields)
            added = tuple(column[~also] for column in added)
        tables.rows.extend(added[0], added[1:])


def _both_ways(entries: Sequence[Array]) -> Entries:
    """Entries for both ends of edges."""
    sources, targets, codes, weights = entries
    return (
        np.concatenate([sources, targets]),
        np.concatenate([targets, sources]),
        np.concatenate([codes, codes + BACKWARD]),
        np.concatenate([weights, weights]),
    )


def entries(tables: GraphTables, nodes: Array) -> Entries:
    """All entries of the rows of nodes."""
    counts, (targets, codes, weights) = tables.rows.gather(nodes)
    return np.repeat(nodes, counts), targets.astype(np.int64), codes.astype(np.int64), weights


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
