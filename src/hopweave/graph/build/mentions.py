"""Mentions in columns: what documents say they name, and the sums that follow from it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hopweave.graph.model import Mention
from hopweave.graph.storage.tables import GraphTables
from hopweave.storage.columns import Array, Numbers, distinct

ABOUT, SURE, UNSURE = 2, 1, 0
"""The confidence of a mention."""


class Mentions(NamedTuple):
    """Mentions in columns: document, node and type by number, weight and confidence."""

    documents: Array
    nodes: Array
    types: Array
    weights: Array
    confidence: Array

    def take(self, chosen: Array) -> "Mentions":
        """Some of the mentions."""
        return Mentions(*(column[chosen] for column in self))

    def plus(self, other: "Mentions") -> "Mentions":
        """These and others."""
        return Mentions(*map(np.concatenate, zip(self, other, strict=True)))

    def vouched(self) -> "Mentions":
        """The same, where all mentions of a node in one document are sure if one of them is.

        So a mention that is sure but weighs little, as that of a triple, takes no weight from another.
        """
        order = np.lexsort((self.nodes, self.documents))
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(self.documents[order]) != 0) | (np.diff(self.nodes[order]) != 0)
        confidence = self.confidence.copy()
        if len(order):
            most = np.maximum.reduceat(confidence[order], np.flatnonzero(new))[np.cumsum(new) - 1]
            confidence[order] = np.maximum(confidence[order], np.minimum(most, SURE))
        return self._replace(confidence=confidence)

    def best(self, edge_types: list[str]) -> "Mentions":
        """One mention per document and node: the most confident, then the heaviest, then by the name of its type."""
        ranks = np.argsort(np.argsort(np.array(edge_types, dtype=np.str_)))
        confidence = self.confidence.astype(np.int64)
        order = np.lexsort((ranks[self.types], -self.weights, -confidence, self.nodes, self.documents))
        documents, nodes = self.documents[order], self.nodes[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(documents) != 0) | (np.diff(nodes) != 0)
        return self.take(order[new])


def mention_columns(tables: GraphTables, mentions: Sequence[Mention]) -> tuple[Array, Array, Array, Array]:
    """Mentions in columns: spelling, type, confidence and weight; new spellings have columns after `settle`.

    >>> columns = mention_columns(GraphTables(), [Mention("Skua", "about", 4.0), Mention("Tern"), Mention("Skua")])
    >>> [column.tolist() for column in columns]
    [[0, 1, 0], [0, 1, 1], [2, 1, 1], [4.0, 1.0, 1.0]]
    """
    names, types, weights, kinds, sure = zip(*mentions, strict=True) if mentions else ((),) * 5
    codes = {name: tables.type_code(name) for name in (*dict.fromkeys(types), "mentions")}
    type_codes = np.array([codes[name] for name in types], np.int64)
    confidence = np.where(type_codes == codes.get("about", -1), ABOUT, np.where(sure, SURE, UNSURE))
    return tables.spelling_numbers(kinds, names), type_codes, confidence, np.array(weights, np.float64)


def stated_mentions(tables: GraphTables, documents: Array) -> tuple[Numbers, Mentions]:
    """What documents themselves say they mention: the spelling of each mention, and the mentions."""
    counts, (spellings, types, confidence, weights) = tables.mentions.gather(documents)
    nodes = tables.spellings["node"][spellings].astype(np.int64)
    mentions = Mentions(np.repeat(documents, counts), nodes, types.astype(np.int64), weights, confidence)
    return spellings.astype(np.int64), mentions


def add_mention_sums(tables: GraphTables, documents: Array, sign: int) -> Numbers:
    """Add what these documents say to the sums of spellings and nodes, or take it back; the nodes they name."""
    spellings, stated = stated_mentions(tables, documents)
    np.add.at(tables.spellings["mentions"], spellings, sign)
    np.add.at(tables.spellings["about"], spellings[stated.confidence == ABOUT], sign)
    if not len(spellings):
        return spellings
    best = stated.best(tables.edge_types)
    np.add.at(tables.nodes["about"], best.nodes[best.confidence == ABOUT], sign)
    np.add.at(tables.nodes["sure"], best.nodes[best.confidence > UNSURE], sign)
    return distinct(best.nodes)


def choose_spellings(tables: GraphTables, nodes: Array) -> None:
    """Set the name each node goes by: the spelling of those about it, then the most frequent, then the smallest."""
    counts, (spellings,) = tables.spellings_of.gather(nodes)
    owners = np.repeat(nodes, counts)
    mentions, about = tables.spellings["mentions"][spellings], tables.spellings["about"][spellings]
    in_use = (mentions > 0) | (tables.spellings["declared"][spellings] > 0)
    owners, spellings, mentions, about = owners[in_use], spellings[in_use], mentions[in_use], about[in_use]
    order = np.lexsort((-mentions, -about, owners))
    owners, spellings, mentions, about = owners[order], spellings[order], mentions[order], about[order]
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    chosen = spellings[first].astype(np.int64)
    ends = np.append(first[1:], len(owners))
    for place in np.flatnonzero(ends - first > 1).tolist():
        begin, end = first[place], ends[place]
        equal = (about[begin:end] == about[begin]) & (mentions[begin:end] == mentions[begin])
        chosen[place] = min(spellings[begin:end][equal].tolist(), key=tables.spelled)
    tables.nodes["spelling"][nodes] = -1
    tables.nodes["spelling"][owners[first]] = chosen
