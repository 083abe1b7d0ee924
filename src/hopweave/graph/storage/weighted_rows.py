"""The edges of a graph's tables with the weights that a random walk follows them by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopweave.concurrency.once import LRUCache, Once
from hopweave.graph.port import Floats, Indices, Mask, WeightedEdges
from hopweave.graph.storage.row_edges import factors_by_code, weighed
from hopweave.storage.columns import Array, FrozenRows, Numbers

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
