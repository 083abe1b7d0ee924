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


@dataclass(frozen=True, slots=True)
class Background:
    """Where a walk ends up that has forgotten its start, so that what is left of a walk can be shared out at once.

    Node i lies in the part of the graph numbered `parts[i]`. A walk from it settles there if `settles[i]`: it then
    meets every node of that part in proportion to `masses`, which sum to 1 in each part, and at every step the share
    `leaks[part]` of it reaches a dead end. The heaviest nodes of part p, heaviest first, are
    `hubs[hub_offsets[p]:hub_offsets[p + 1]]`.

    >>> parts = np.array([0, 0, 1])
    >>> background = Background.of(np.array([0.25, 0.75, 1.0]), parts, parts == 0, parts < 0)
    >>> background.hubs.tolist(), background.hub_offsets.tolist(), background.leaks.tolist()
    ([1, 0, 2], [0, 2, 3], [0.0, 0.0])
    """

    masses: Floats
    parts: Indices
    settles: npt.NDArray[np.bool_]
    leaks: Floats
    hubs: Indices
    hub_offsets: Indices

    @classmethod
    def of(
        cls,
        masses: Floats,
        parts: Indices,
        settles: npt.NDArray[np.bool_],
        dead_ends: npt.NDArray[np.bool_],
        hubs_per_part: int = 512,
    ) -> "Background":
        """A background with its leaks and hubs worked out."""
        count = int(parts.max(initial=-1)) + 1
        heavy = np.flatnonzero(masses > 0)
        heavy = heavy[np.lexsort((heavy, -masses[heavy], parts[heavy]))]
        sizes = np.bincount(parts[heavy], minlength=count)
        rank = np.arange(len(heavy)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(np.minimum(sizes, hubs_per_part), out=offsets[1:])
        leaks = np.bincount(parts, masses * dead_ends, count).astype(np.float64, copy=False)
        return cls(masses, parts, settles, leaks, heavy[rank < hubs_per_part], offsets)


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

    def background(self, direction: Direction = "out") -> Background | None:
        """Where a walk that has forgotten its start ends up; None if that is not known."""
        ...
