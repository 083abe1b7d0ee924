"""The edges of a graph's tables with the weights that a random walk follows them by."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopweave.graph.port import Floats, Indices, Mask, WeightedEdges
from hopweave.graph.storage.row_edges import factors_by_code, weighed
from hopweave.storage.columns import Array, FrozenRows, Numbers

_AT_ONCE = 500_000
"""So many edges are weighed in some milliseconds."""


@dataclass(frozen=True, slots=True)
class _Weighed:
    """All edges, those of node i from `starts[i]` on, and which nodes may have parallel ones: None if none may."""

    starts: Numbers
    counts: Numbers
    targets: Array
    weights: Floats
    parallel: Mask | None


class WeightedRows:
    """The edges of all nodes as `weighed` gives them.

    In a large graph, weights are computed when a node is asked for, so that it is ready as soon as it is opened or
    changed. Once as many edges have been weighed as it has, all are weighed and kept, as it is then asked often.
    """

    def __init__(self, rows: FrozenRows, rarity: Floats, forward: Sequence[float], backward: Sequence[float]) -> None:
        """`rarity` is one number per node, `forward` and `backward` are factors by edge type, there and back."""
        self._rows, self._rarity = rows, rarity
        self._factors = factors_by_code(forward, backward)
        self._left = int(rows.lengths.sum()) - _AT_ONCE
        self._weighed: _Weighed | None = None

    def edges(self, nodes: Indices) -> WeightedEdges:
        """The edges of nodes both ways."""
        weighed = self._weighed
        if weighed is None:
            found = self._weigh(nodes)[0]
            self._left -= len(found.targets)
            if self._left < 0:
                self._weighed = self._weigh_all()
            return found
        counts = weighed.counts[nodes]
        starts = counts.cumsum()
        starts -= counts
        positions = (weighed.starts[nodes] - starts).repeat(counts)
        positions += np.arange(len(positions))
        distinct = weighed.parallel is None or not weighed.parallel[nodes].any()
        return WeightedEdges(starts, counts, weighed.targets[positions], weighed.weights[positions], distinct)

    def _weigh(self, nodes: Indices) -> tuple[WeightedEdges, Mask]:
        """The edges of nodes, and which of them are mentions."""
        return weighed(nodes, self._rows.gather(nodes), self._factors, self._rarity.__getitem__)

    def _weigh_all(self) -> _Weighed:
        found, is_mention = self._weigh(np.arange(len(self._rows.lengths)))
        parallel = None if is_mention.all() else np.zeros(len(found.counts), np.bool_)
        if parallel is not None:
            parallel[np.repeat(np.arange(len(found.counts)), found.counts)[~is_mention]] = True
        starts = found.starts.astype(np.int64, copy=False)
        targets = found.targets.astype(np.intp)  # any other type is slow to index with
        return _Weighed(starts, found.counts.astype(np.int64), targets, found.weights, parallel)
