"""Edges that are kept as one row of entries per node, with their weights computed when they are read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from hopweave.concurrency.once import LRUCache, Once
from hopweave.graph.port import (
    AllInMemory,
    Direction,
    Floats,
    Indices,
    Mask,
    Neighbours,
    StationaryDistribution,
    WeightedEdges,
)
from hopweave.graph.storage.tables import BACKWARD, MENTION
from hopweave.storage.columns import Array, FrozenRows, Numbers


class RowEdges(AllInMemory, ABC):
    """What algorithms ask about edges, answered from rows of entries: target, code and stored weight.

    The code of an entry is 4 x type + flags, as in `GraphTables.rows`. An entry weighs its stored weight times the
    rarity of the nodes at both ends.
    """

    @abstractmethod
    def _gather(self, nodes: Array) -> tuple[Array, Sequence[Array]]:
        """How many entries each of these nodes has, and these end to end: targets, codes and weights."""

    @abstractmethod
    def _rarity_of(self, nodes: Array) -> Floats:
        """What an edge to each of these nodes is multiplied by; 1 for passages."""

    @abstractmethod
    def edge_counts(self, nodes: Indices) -> Indices:
        """How many edges each of these nodes has, both ways."""

    @abstractmethod
    def stationary_distribution_of(
        self, key: str, make: Callable[[], StationaryDistribution | None]
    ) -> StationaryDistribution | None:
        """What `make` returned under this key for this version of the graph, or for one that differs little."""

    def weighted(self, forward: Sequence[float], backward: Sequence[float]) -> Callable[[Indices], WeightedEdges]:
        """A function that returns the edges of nodes both ways, each weight times the factor of its type."""
        factors = factors_by_code(forward, backward)
        return lambda nodes: weighed(nodes, self._gather(nodes), factors, self._rarity_of)[0]

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The edges of these nodes, in the order asked for; within a node ordered by target, then type."""
        nodes = np.asarray(nodes, np.int64)
        counts, (targets, codes, weights) = self._gather(nodes)
        places, backward = np.arange(len(nodes)).repeat(counts), codes & BACKWARD > 0
        kept = weights > 0
        if direction != "both":
            kept &= backward == (direction == "in")
        else:
            kept &= (targets != nodes[places]) | ~backward  # a self loop is one edge, not one each way
        chosen = kept.nonzero()[0]
        places, targets, types = places[chosen], targets[chosen].astype(np.int64), codes[chosen].astype(np.int64) // 4
        weights = weights[chosen] * (self._rarity_of(targets) * self._rarity_of(nodes)[places])
        order = np.lexsort((weights, types, targets, places))
        places, targets, types, weights = places[order], targets[order], types[order], weights[order]
        first = np.ones(len(order), dtype=bool)
        first[1:] = (places[1:] != places[:-1]) | (targets[1:] != targets[:-1]) | (types[1:] != types[:-1])
        starts = first.nonzero()[0]
        sums = np.add.reduceat(weights, starts) if len(starts) else weights
        offsets = np.zeros(len(nodes) + 1, np.int64)
        np.cumsum(np.bincount(places[starts], minlength=len(nodes)), out=offsets[1:])
        targets = targets[starts]
        return Neighbours(offsets, targets, sums, types[starts], self.edge_counts(targets).astype(np.float64))


def factors_by_code(forward: Sequence[float], backward: Sequence[float]) -> Floats:
    """One factor for each code of an entry, from one per edge type there and back.

    >>> factors_by_code([2.0], [3.0]).tolist()
    [2.0, 2.0, 3.0, 3.0]
    """
    return np.repeat(np.stack([forward, backward], axis=1), 2, axis=1).reshape(-1)


def weighed(
    nodes: Indices,
    gathered: tuple[Array, Sequence[Array]],
    factor_of_code: Floats,
    rarity_of: Callable[[Array], Floats],
) -> tuple[WeightedEdges, Mask]:
    """The edges of nodes both ways from their gathered entries, and which of them are mentions.

    Weight = stored weight x factor of the code x rarity of the nodes at both ends.
    """
    counts, (targets, codes, weights) = gathered
    starts = np.cumsum(counts, dtype=np.int64) - counts
    is_mention = codes & MENTION > 0
    factors = factor_of_code[codes]
    factors *= weights
    rarity = rarity_of(targets)
    rarity *= np.repeat(rarity_of(nodes), counts)
    factors *= rarity
    if is_mention.all():  # a passage has one mention of a node
        return WeightedEdges(starts, counts, targets, factors, distinct=True), is_mention
    factors[(codes & BACKWARD > 0) & (targets == np.repeat(nodes, counts))] = 0  # a self loop is one edge
    return WeightedEdges(starts, counts, targets, factors, distinct=False), is_mention


def rarity_of_node(passages: int, edge_ends: int, dead_end_share: float) -> float:
    """The rarity of one node, as `GraphTables.rarity` gives it for all.

    >>> rarity_of_node(0, 0, 0.1), round(rarity_of_node(1, 0, 0.1), 3), round(rarity_of_node(1, 1, 0.1), 3)
    (1.0, 0.091, 0.91)
    """
    if not passages:
        return 1.0
    return float(1 / np.log(2 + passages)) * (dead_end_share if passages == 1 and not edge_ends else 1.0)


_AT_ONCE = 500_000
"""So many edges are weighed in some milliseconds."""

_MAX_STALE = 0.1
"""The share of edges that may have changed since all were weighed."""


@dataclass(frozen=True, slots=True)
class WeighedEdges:
    """All edges of one version, those of node i from `starts[i]` on, with the rows and the rarity they follow from.

    `parallel` says which nodes may have parallel edges; None if none may.
    """

    rows: FrozenRows
    rarity: Floats
    starts: Numbers
    counts: Numbers
    targets: Array
    weights: Floats
    parallel: Mask | None

    def stale(self, rows: FrozenRows, rarity: Floats) -> Mask:
        """One flag per node of another version of the same tables: whether its edges have to be weighed again.

        Those are the nodes whose row or rarity differs, and the neighbours of the latter.
        """
        size = min(len(self.rows.lengths), len(rows.lengths))
        same = self.rows.starts[:size] == rows.starts[:size]
        same &= self.rows.lengths[:size] == rows.lengths[:size]
        stale = np.ones(len(rows.lengths), np.bool_)
        stale[:size] = ~same
        rarer = np.flatnonzero(self.rarity[:size] != rarity[:size])
        stale[rarer] = True
        stale[rows.gather(rarer)[1][0]] = True
        return stale


class WeightedRows:
    """The edges of all nodes as `weighed` gives them.

    In a large graph, weights are computed when a node is asked for, so that it is ready as soon as it is opened or
    changed. Once as many edges have been weighed as it has, one thread weighs all of them, while the others go on as
    before. `kept` outlives the version: later ones weigh again only what has changed since.
    """

    def __init__(
        self,
        rows: FrozenRows,
        rarity: Floats,
        forward: Sequence[float],
        backward: Sequence[float],
        kept: LRUCache[tuple[float, ...], WeighedEdges],
    ) -> None:
        """`rarity` is one number per node, `forward` and `backward` are factors by edge type, there and back."""
        self._rows, self._rarity, self._kept = rows, rarity, kept
        self._factors = factors_by_code(forward, backward)
        self._key = (*forward, *backward)
        edges = int(rows.lengths.sum())
        self._left = edges - _AT_ONCE
        self._all = Once[tuple[WeighedEdges, Mask]]()
        earlier = kept.get(self._key)
        if earlier is not None:
            stale = earlier.stale(rows, rarity)
            if int(rows.lengths[stale].sum()) <= _MAX_STALE * edges:
                self._all.get_or_make(lambda: (earlier, stale))

    def edges(self, nodes: Indices) -> WeightedEdges:
        """The edges of nodes both ways."""
        found = self._all.get()
        if found is None:
            edges = self._weigh(nodes)[0]
            self._left -= len(edges.targets)
            if self._left < 0:
                self._all.get_or_make_unless_busy(self._weigh_all)
            return edges
        weighed, stale = found
        changed = stale[nodes]
        if np.count_nonzero(changed):
            return self._mixed(weighed, nodes, changed)
        return _read(weighed, nodes)

    def _mixed(self, weighed: WeighedEdges, nodes: Indices, changed: Mask) -> WeightedEdges:
        """The edges of nodes of which some have changed."""
        new, old = self._weigh(nodes[changed])[0], _read(weighed, nodes[~changed])
        counts = np.empty(len(nodes), np.int64)
        counts[changed], counts[~changed] = new.counts, old.counts
        is_new = changed.repeat(counts)
        targets, weights = np.empty(len(is_new), np.intp), np.empty(len(is_new))
        targets[is_new], targets[~is_new] = new.targets, old.targets
        weights[is_new], weights[~is_new] = new.weights, old.weights
        return WeightedEdges(counts.cumsum() - counts, counts, targets, weights, new.distinct and old.distinct)

    def _weigh(self, nodes: Indices) -> tuple[WeightedEdges, Mask]:
        """The edges of nodes, and which of them are mentions."""
        return weighed(nodes, self._rows.gather(nodes), self._factors, self._rarity.__getitem__)

    def _weigh_all(self) -> tuple[WeighedEdges, Mask]:
        found, is_mention = self._weigh(np.arange(len(self._rows.lengths)))
        parallel = None if is_mention.all() else np.zeros(len(found.counts), np.bool_)
        if parallel is not None:
            parallel[np.repeat(np.arange(len(found.counts)), found.counts)[~is_mention]] = True
        starts = found.starts.astype(np.int64, copy=False)
        targets = found.targets.astype(np.intp)  # any other type is slow to index with
        counts = found.counts.astype(np.int64)
        made = WeighedEdges(self._rows, self._rarity, starts, counts, targets, found.weights, parallel)
        self._kept.put(self._key, made)
        return made, np.zeros(len(counts), np.bool_)


def _read(weighed: WeighedEdges, nodes: Indices) -> WeightedEdges:
    counts = weighed.counts[nodes]
    starts = counts.cumsum()
    starts -= counts
    positions = (weighed.starts[nodes] - starts).repeat(counts)
    positions += np.arange(len(positions))
    distinct = weighed.parallel is None or not weighed.parallel[nodes].any()
    return WeightedEdges(starts, counts, weighed.targets[positions], weighed.weights[positions], distinct)
