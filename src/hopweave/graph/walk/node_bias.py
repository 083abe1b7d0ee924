"""Node bias that is computed for the nodes that a walk reaches, for graphs that do not lie in memory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Floats, Indices, NodeFlags

Boosts = Callable[[], tuple[Indices, Floats]]
"""Distinct nodes and what multiplies the bias of each, as far as a graph has found them when it is called."""


@dataclass(frozen=True, slots=True)
class FixedBias:
    """The bias that does not depend on the question: of passages, and of entities that a passage is about.

    >>> FixedBias(np.array([True, False, False]), np.array([False, True, False]), 0.25, 2.0)[np.array([0, 1, 2])]
    array([0.25, 2.  , 1.  ], dtype=float32)
    """

    passages: NodeFlags
    topics: NodeFlags
    passage_bias: float
    topic_boost: float

    def __getitem__(self, nodes: Indices) -> npt.NDArray[np.float32]:
        bias = np.where(self.passages[nodes], self.passage_bias, 1.0).astype(np.float32)
        bias[self.topics[nodes]] *= self.topic_boost
        return bias


class SparseBias:
    """A fixed bias that some nodes replace and others multiply.

    The function that returns the multipliers is called each time, because a graph may find more of them while it is
    read.

    >>> flags = np.zeros(3, np.bool_)
    >>> fixed = FixedBias(flags, flags, 0.25, 2.0)
    >>> boost = np.array([0]), np.array([3.0])
    >>> SparseBias(fixed, (np.array([2]), np.array([0.5])), lambda: boost)[np.array([2, 1, 0])]
    array([0.5, 1. , 3. ], dtype=float32)
    """

    def __init__(self, fixed: FixedBias, replaced: tuple[Indices, Floats], multiplied: Boosts) -> None:
        """Numbers of distinct nodes, and what replaces the bias of each or multiplies it."""
        self._fixed, self._replaced, self._multiplied = fixed, in_order(*replaced), multiplied

    def __getitem__(self, nodes: Indices) -> npt.NDArray[np.float32]:
        bias = self._fixed[nodes]
        places, values = values_of(self._replaced, nodes)
        bias[places] = values
        places, values = values_of(in_order(*self._multiplied()), nodes)
        bias[places] *= values
        return bias


def in_order(nodes: Indices, values: Floats) -> tuple[Indices, Floats]:
    """Nodes by number, and their values."""
    order = np.argsort(nodes, kind="stable")  # takes no time where they are in order, as in a file
    return nodes[order], values[order]


def values_of(pairs: tuple[Indices, Floats], nodes: Indices) -> tuple[Indices, Floats]:
    """The places of nodes that have a value, and the values; the pairs of nodes and values are in order."""
    known, values = pairs
    if not len(known):
        return np.empty(0, np.int64), values
    positions = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
    places = np.flatnonzero(known[positions] == nodes)
    return places, values[positions[places]]
