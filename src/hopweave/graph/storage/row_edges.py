"""Edges that are kept as one row of entries per node, with their weights computed when they are read."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from hopweave.graph.port import Direction, Floats, Indices, Mask, Neighbours, WeightedEdges
from hopweave.graph.storage.tables import BACKWARD, MENTION
from hopweave.storage.columns import Array


class RowEdges(ABC):
    """What algorithms ask about edges, answered from rows of entries: target, code and stored weight.

    The code of an entry is 4 x type + flags, as in `GraphTables.rows`. An entry weighs its stored weight times the
    rarity of the nodes at both ends.
    """

    read_ahead = 0.0

    def expect(self, nodes: Indices) -> None:  # noqa: B027 - there need not be one
        """Where edges lie in memory, there is nothing to prepare."""

    def is_read(self, nodes: Indices) -> Mask:
        """Where edges lie in memory, all of them."""
        return np.ones(len(nodes), np.bool_)

    @abstractmethod
    def _gather(self, nodes: Array) -> tuple[Array, Sequence[Array]]:
        """How many entries each of these nodes has, and these end to end: targets, codes and weights."""

    @abstractmethod
    def _rarity_of(self, nodes: Array) -> Floats:
        """What an edge to each of these nodes is multiplied by; 1 for passages."""

    @abstractmethod
    def edge_counts(self, nodes: Indices) -> Indices:
        """How many edges each of these nodes has, both ways."""

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
