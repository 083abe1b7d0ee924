"""What graph algorithms may ask of a graph, wherever it lives.

Nodes are dense integers from 0 to `size - 1` for one `version` of the graph, so that scores fit into flat arrays.
Every question is about many nodes at once: a graph in a database answers each call with one query.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Node

Direction = Literal["out", "in", "both"]
"""Which edges of a node count: those that leave it, those that arrive, or all of them.

With "both", a self loop counts once.
"""

Indices = npt.NDArray[np.integer]
Floats = npt.NDArray[np.floating]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The edges of several nodes, end to end.

    The edges of the i-th node asked for are the positions `offsets[i]` to `offsets[i + 1]` of the other arrays.
    Each edge has the node at its other end, its weight, the code of its type (a position in the port's
    `edge_types`), and the weighted degree of the node at its other end.
    """

    offsets: Indices
    targets: Indices
    weights: Floats
    types: Indices
    degrees: Floats


class GraphPort(Protocol):
    """A read-only graph at one version.

    Weights are as stored: algorithms apply the weights of edge types themselves. The weighted degree of a node is
    the sum of the stored weights of its edges in that direction.
    """

    @property
    def version(self) -> int:
        """Grows with every write; equal versions mean equal contents and equal node numbers."""
        ...

    @property
    def size(self) -> int:
        """The number of nodes."""
        ...

    @property
    def edge_types(self) -> Sequence[str]:
        """The names of edge types; an edge's type code is a position in this list."""
        ...

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The edges of these nodes, in the order asked for; within a node ordered by target, then type."""
        ...

    def degree(self, nodes: Indices, direction: Direction = "out") -> Floats:
        """The weighted degree of each node."""
        ...

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids; ids that do not exist are left out."""
        ...

    def lookup(self, names: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes that bear these normalised names, of whatever kind; unknown names are left out."""
        ...

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes: id, kind, name, document id."""
        ...

    def background(self, direction: Direction = "out") -> Floats | None:
        """Where a walk that has forgotten its start ends up: one mass per node, summing to 1; None if not known."""
        ...
