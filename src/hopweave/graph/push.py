"""Personalised PageRank by pushing: walk on from where most of the mass is, and never look at the rest of the graph.

Everything here sees a graph only as rows: how a walk goes on from some nodes. A graph in memory has them ready; any
other `GraphPort` is asked for the neighbours of the whole frontier at once, one call per round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hopweave.graph.csr import slices
from hopweave.graph.port import Background, Direction, Floats, GraphPort, Indices
from hopweave.graph.terms import Mask, Terms
from hopweave.graph.walk import Precision, Walk

PUSH_THRESHOLD = 7e-4
"""A push goes on from a node while it holds more than this x tolerance per edge."""

WORTHWHILE = 0.1
"""A push ends when all nodes it could go on from hold less than this x tolerance together."""


@dataclass(frozen=True, slots=True)
class Onward:
    """How a walk goes on from some nodes: how many targets each has and, end to end, these targets and their shares.

    A node's targets are distinct and sorted. Its shares sum to 1, or to 0 if it has no edges to follow.
    """

    counts: Indices
    targets: Indices
    shares: Floats


class Rows(Protocol):
    """What a push needs to know of a graph."""

    @property
    def size(self) -> int:
        """The number of nodes."""
        ...

    @property
    def workspaces(self) -> "list[Workspace]":
        """Workspaces that are free to use."""
        ...

    def onward(self, nodes: Indices) -> Onward:
        """The edges of these nodes; edges to forbidden nodes have share 0 or are left out."""
        ...

    def sizes(self, nodes: Indices) -> Floats:
        """About how many edges each of these nodes has; all of them were seeds or targets before."""
        ...


class WalkRows:
    """The rows of a graph in memory."""

    def __init__(self, walk: Walk, terms: Terms) -> None:
        self.size = walk.size
        self.workspaces: list[Workspace] = walk.spare.setdefault(terms.precision, [])
        self._walk = walk
        self._pull = terms.pull
        self._shares = walk.shares(terms.precision)

    def onward(self, nodes: Indices) -> Onward:
        """The edges of these nodes."""
        offsets, positions = slices(self._walk.indptr, nodes)
        counts = offsets[1:] - offsets[:-1]
        targets, shares = self._walk.targets[positions], self._shares[positions]
        if self._pull is not None:
            shares = _rescaled(shares * self._pull[targets], offsets, counts).astype(shares.dtype, copy=False)
        return Onward(counts, targets, shares)

    def sizes(self, nodes: Indices) -> Floats:
        """How many edges each node has."""
        return self._walk.counts[nodes]


class PortRows:
    """The rows of a graph that is only a port, such as one in a database."""

    def __init__(
        self, port: GraphPort, directions: Mapping[Direction, Sequence[float]], pull: Mask | Floats | None = None
    ) -> None:
        self.size = port.size
        self.workspaces: list[Workspace] = []
        self._port = port
        self._directions = {direction: np.array(factors, np.float64) for direction, factors in directions.items()}
        self._pull = pull
        self._degrees = np.zeros(port.size)
        self._edges_seen = 0
        self._weight_seen = 0.0

    def onward(self, nodes: Indices) -> Onward:
        """The edges of these nodes, with one call per direction."""
        owners, targets, weights = [], [], []
        for direction, factors in self._directions.items():
            found = self._port.neighbours(nodes, direction)
            self._degrees[found.targets] = found.degrees
            self._edges_seen += len(found.targets)
            self._weight_seen += float(found.weights.sum())
            owners.append(np.repeat(np.arange(len(nodes)), np.diff(found.offsets)))
            targets.append(found.targets)
            weights.append(found.weights * factors[found.types])
        keys = np.concatenate(owners) * self.size + np.concatenate(targets)
        order = np.argsort(keys, kind="stable")
        first = np.flatnonzero(np.diff(keys[order], prepend=-1))
        pulls = np.add.reduceat(np.concatenate(weights)[order], first) if len(first) else np.zeros(0)
        owner, reached = np.divmod(keys[order[first]], self.size)
        if self._pull is not None:
            pulls = pulls * self._pull[reached]
        counts = np.bincount(owner, minlength=len(nodes))
        return Onward(counts, reached, _rescaled(pulls, np.concatenate([[0], np.cumsum(counts)]), counts))

    def sizes(self, nodes: Indices) -> Floats:
        """The weighted degree in units of the mean weight, so that the scale of the weights does not matter."""
        return self._degrees[nodes] * (self._edges_seen / self._weight_seen if self._weight_seen else 1.0)


class Workspace:
    """One number per node for the visits, the residue and the bookkeeping of a push.

    Fresh memory of the size of a large graph costs more than the push itself, so a workspace is cleaned where it
    was used and handed to the next push.
    """

    def __init__(self, size: int, precision: Precision) -> None:
        self.visits: Floats = np.zeros(size, precision)
        self.residue: Floats = np.zeros(size, precision)
        self.reached: Mask = np.zeros(size, np.bool_)
        self.latest: npt.NDArray[np.int32] = np.empty(size, np.int32)

    def clean(self) -> None:
        """Forget the last push."""
        used = np.flatnonzero(self.reached)
        self.visits[used] = 0
        self.residue[used] = 0
        self.reached[used] = False


@dataclass(frozen=True, slots=True)
class Pushed:
    """The nodes a push reached, their scores, and how far it got."""

    nodes: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    rounds: int
    residual: float
    finished: bool


def push(rows: Rows, seeds: Indices, weights: Floats, terms: Terms, background: Background | None = None) -> Pushed:
    """Push from distinct seeds until no node holds more than 0.0007 x tolerance per edge, then share out what is left.

    Every round, all nodes with enough mass keep it as visits and hand (1 - restart) of it to their neighbours. What
    is left at the end is given to the background of the part of the graph it lies in: on the nodes reached and on
    the hubs. Under a mask it goes to the nodes reached only.

    >>> from hopweave.graph.csr import Graph
    >>> from hopweave.graph.walk import walk_of
    >>> pair = walk_of(Graph.from_arrays(np.array([0]), np.array([1])), "both")
    >>> terms = Terms(restart=0.5, tolerance=1e-6)
    >>> found = push(WalkRows(pair, terms), np.array([0]), np.array([1.0]), terms)
    >>> found.nodes.tolist(), found.scores.round(4).tolist()
    ([0, 1], [0.6667, 0.3333])
    """
    pool = rows.workspaces
    try:
        space = pool.pop()
    except IndexError:  # none yet, or another thread was faster
        space = Workspace(rows.size, terms.precision)
    try:
        space.residue[seeds] = weights / weights.sum()
        space.reached[seeds] = True
        rounds, finished = _spread(rows, np.asarray(seeds, np.int64), terms, space)
        nodes = np.flatnonzero(space.reached)
        left = space.residue[nodes].astype(np.float64)
        total = terms.restart * float(space.visits[nodes].sum(dtype=np.float64)) + float(left.sum())
        shares: Floats = np.zeros(len(nodes))
        if background is not None:
            nodes, shares, lost = _settled(nodes, left, space.reached, background, terms)
            total -= lost
        scores = terms.restart * (space.visits[nodes].astype(np.float64) + space.residue[nodes]) + shares
    finally:
        space.clean()
        pool.append(space)
    return Pushed(nodes, scores / total, rounds, float(left.sum()) / total, finished)


def _spread(rows: Rows, frontier: npt.NDArray[np.int64], terms: Terms, space: Workspace) -> tuple[int, bool]:
    """Push round by round; how many rounds, and whether the deadline left time for all of them."""
    visits, residue, reached, latest = space.visits, space.residue, space.reached, space.latest
    threshold, worthwhile, rounds = PUSH_THRESHOLD * terms.tolerance, WORTHWHILE * terms.tolerance, 0
    while len(frontier):
        if rounds and terms.late:
            return rounds, False
        mass = residue[frontier]
        if rounds and mass.sum() < worthwhile:
            break
        rounds += 1
        visits[frontier] += mass
        residue[frontier] = 0
        mass *= 1 - terms.restart
        onward = rows.onward(frontier)
        targets = onward.targets.astype(np.intp)
        reached[targets] = True
        np.add.at(residue, targets, onward.shares * np.repeat(mass, onward.counts))
        full = targets[residue[targets] > threshold]
        full = full[residue[full] > threshold * rows.sizes(full)]
        # each node once: of its appearances, the one that was written last
        order = np.arange(len(full), dtype=np.int32)
        latest[full] = order
        frontier = full[latest[full] == order]
    return rounds, True


def _settled(
    nodes: npt.NDArray[np.int64], left: Floats, reached: Mask, background: Background, terms: Terms
) -> tuple[npt.NDArray[np.int64], Floats, float]:
    """All nodes that get a share of what is left, hubs among them; their shares; and what will get lost on the way.

    Of a walk that restarts with probability c and leaks l at every step, the share c / (1 - (1 - c) * (1 - l)) is
    visits to come. Of those, c are where it now is; the others go by the background.
    """
    settled = background.settles[nodes]
    owed = _by_part(background, nodes[settled], left[settled])
    parts = np.flatnonzero(owed)
    if terms.pull is None:
        yields = terms.restart / (1 - (1 - terms.restart) * (1 - background.leaks[parts]))
        _, positions = slices(background.hub_offsets, parts)
        hubs = background.hubs[positions]
        nodes = np.concatenate([nodes, hubs[~reached[hubs]]])
        masses = background.masses[nodes]
    else:
        # leaks and hubs are those of a walk without pulls; of that, only proportions among the reached hold
        yields = np.ones(len(parts))
        masses = background.masses[nodes] * terms.pull[nodes]
        known = _by_part(background, nodes, masses)[background.parts[nodes]]
        masses = np.divide(masses, known, out=np.zeros(len(nodes)), where=known > 0)
    lost = float(((1 - yields) * owed[parts]).sum())
    owed[parts] *= yields - terms.restart
    return nodes, owed[background.parts[nodes]] * masses, lost


def _by_part(background: Background, nodes: Indices, values: Floats) -> Floats:
    sums = np.zeros(len(background.leaks))
    np.add.at(sums, background.parts[nodes], values)
    return sums


def _rescaled(weights: Floats, offsets: Indices, counts: Indices) -> Floats:
    """Weights divided by the sum of those between the same two offsets."""
    if not len(weights):
        return weights
    if counts.all():
        sums = np.add.reduceat(weights, offsets[:-1])
    else:  # an empty slice would be given the weight that follows it
        sums = np.where(counts, np.add.reduceat(np.append(weights, 0), offsets[:-1]), 0)
    scale = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    rescaled: Floats = weights * np.repeat(scale, counts)
    return rescaled
