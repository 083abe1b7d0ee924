"""Communities: groups of nodes that are connected more among themselves than with the rest."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.errors import HopweaveError
from hopweave.graph.port import GraphPort
from hopweave.graph.walk.transitions import TypeWeights, weight_matrix

MIN_EDGES = 10
"""With fewer edges, communities are not computed."""

_SWEEPS = 30
_BATCHES = 4


def communities(graph: GraphPort) -> npt.NDArray[np.int64] | None:
    """The community of every node, numbered from 0 by their smallest node; None below 10 edges.

    Louvain: nodes move to the neighbouring community that adds most to the modularity
    sum over communities of (weight inside / total) - (degree / total)^2, then communities are merged
    into nodes and the same is done again, until nothing moves. Edges count in both directions. A node without edges is
    a community of its own. Computed once per graph, and the same for equal graphs.

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre (2008), Fast Unfolding of Communities in Large Networks.
    Nodes move in batches rather than one by one, which numpy can do at once.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> ring = np.arange(5)
    >>> edges = [(a + side, b + side) for side in (0, 5) for a in ring for b in ring if a < b] + [(0, 5)]
    >>> communities(graph_from_arrays(*np.array(edges).T)).tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    """
    edges = graph.all_edges()
    if edges is None:
        raise HopweaveError("communities need all edges of a graph in memory")
    if len(edges.targets) < MIN_EDGES:
        return None
    return graph.cached("communities", lambda: _louvain(graph))


@dataclass(frozen=True, slots=True)
class _Network:
    """Edges both ways, without self loops, by source; the strength of a node counts its loops as well."""

    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]
    strengths: npt.NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.strengths)


def _louvain(graph: GraphPort) -> npt.NDArray[np.int64]:
    matrix = weight_matrix(graph, TypeWeights("both"))
    sources, targets = np.repeat(np.arange(graph.size), np.diff(matrix.indptr)), matrix.indices.astype(np.int64)
    apart = sources != targets
    network = _Network(sources[apart], targets[apart], matrix.data[apart], np.asarray(matrix.sum(axis=1)))
    random = np.random.default_rng(0)
    labels = np.arange(graph.size)
    while True:
        moved = _moved(network, random)
        names, moved = np.unique(moved, return_inverse=True)
        labels = moved[labels]
        if len(names) == network.size:
            return _numbered(labels)
        network = _merged(network, moved, len(names))


def _moved(network: _Network, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """The community of each node when no move adds anything any more, or nearly."""
    labels, sums = np.arange(network.size), network.strengths.copy()
    cost = 1 / max(float(network.strengths.sum()), 1e-300)
    batch_of = random.integers(_BATCHES, size=network.size)[network.sources]
    batches = [np.flatnonzero(batch_of == batch) for batch in range(_BATCHES)]
    for _ in range(_SWEEPS):
        moves = 0
        for batch in batches:
            # all nodes of a batch move at once; with several batches, neighbours do not swap places for ever
            nodes, better = _better(network, batch, labels, sums, cost)
            np.subtract.at(sums, labels[nodes], network.strengths[nodes])
            np.add.at(sums, better, network.strengths[nodes])
            labels[nodes] = better
            moves += len(nodes)
        if moves <= network.size // 1000:
            break
    return labels


def _better(
    network: _Network,
    batch: npt.NDArray[np.int64],
    labels: npt.NDArray[np.int64],
    sums: npt.NDArray[np.float64],
    cost: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Nodes of a batch of edges for which another community has more modularity, and which one."""
    if not len(batch):
        return batch, batch
    sources, neighbours = network.sources[batch], labels[network.targets[batch]]
    order = np.argsort(sources * network.size + neighbours)
    sources, neighbours = sources[order], neighbours[order]
    first = np.flatnonzero((np.diff(sources, prepend=-1) != 0) | (np.diff(neighbours, prepend=-1) != 0))
    nodes, choices = sources[first], neighbours[first]
    ties = np.add.reduceat(network.weights[batch][order], first)
    strengths, at_home = network.strengths[nodes], choices == labels[nodes]
    gains = ties - cost * strengths * (sums[choices] - at_home * strengths)
    # the best choice of each node; of equal ones, the smallest number
    starts = np.flatnonzero(np.diff(nodes, prepend=-1))
    counts = np.diff(starts, append=len(nodes))
    highest = np.maximum.reduceat(gains, starts)
    best = np.flatnonzero(gains == np.repeat(highest, counts))
    best = best[np.flatnonzero(np.diff(nodes[best], prepend=-1))]
    movers = nodes[starts]
    own = network.strengths[movers]
    staying = -cost * own * (sums[labels[movers]] - own)
    staying = np.maximum(staying, np.maximum.reduceat(np.where(at_home, gains, -np.inf), starts))
    improved = np.flatnonzero(highest > staying + 1e-12 * own)
    return movers[improved], choices[best[improved]]


def _merged(network: _Network, labels: npt.NDArray[np.int64], count: int) -> _Network:
    """The network between communities."""
    keys = labels[network.sources] * count + labels[network.targets]
    order = np.argsort(keys)
    first = np.flatnonzero(np.diff(keys[order], prepend=-1))
    weights = np.add.reduceat(network.weights[order], first) if len(first) else network.weights
    sources, targets = np.divmod(keys[order[first]], count)
    apart = sources != targets
    strengths = np.bincount(labels, network.strengths, count).astype(np.float64, copy=False)
    return _Network(sources[apart], targets[apart], weights[apart], strengths)


def _numbered(labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The same communities, numbered in the order of their smallest node."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(len(first), np.int64)
    numbers[np.argsort(first)] = np.arange(len(first))
    found = numbers[places]
    found.flags.writeable = False
    return found
