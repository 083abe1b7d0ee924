"""The stationary distribution of a random walk: computed once per graph and weights, then used by every question."""

from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Mask, StationaryDistribution

if TYPE_CHECKING:
    from hopweave.graph.walk.transitions import Matrix

RESTART = 0.15
"""For directed graphs: the residual of a push still depends on the seeds a little, like a walk with restarts."""

MIN_CORE = 0.25
"""A directed walk converges only in components of which at least this share is strongly connected."""


def stationary_distribution(weights: "Matrix") -> StationaryDistribution | None:
    """The stationary distribution within each connected component: the share of a long walk's visits to each node.

    `weights` are what the walk follows edges by (`weight_matrix`). Where every edge runs both ways with one weight this
    is degree / sum of degrees. In a directed graph it is PageRank that restarts anywhere in the core of each component,
    its largest strongly connected part; a walk from a node that cannot reach the core, or in a component with too small
    a core, does not converge. None if there are no edges.

    >>> from hopweave.testing.graphs import graph_from_arrays
    >>> from hopweave.graph.walk.transitions import TypeWeights, weight_matrix
    >>> star = graph_from_arrays(np.array([0, 0, 0]), np.array([1, 2, 3]))
    >>> stationary_distribution(weight_matrix(star, TypeWeights("both"))).probabilities.tolist()[:2]
    [0.5, 0.16666666666666666]
    """
    if not weights.nnz:
        return None
    from scipy.sparse.csgraph import connected_components

    size = weights.shape[0]
    count, components = connected_components(weights, directed=True, connection="weak")
    degrees: npt.NDArray[np.float64] = np.asarray(weights.sum(axis=1))
    visits: npt.NDArray[np.floating]
    if abs(weights - weights.T).nnz == 0:
        visits, converges = degrees, degrees > 0
    else:
        core, backward = _cores(weights, count, components), weights.T.tocsr()
        visits, converges = _pagerank_from(backward, degrees, core), _reaching(backward, core)
    totals = np.bincount(components, visits, count)[components]
    probabilities = np.divide(visits, totals, out=np.zeros(size), where=totals > 0)
    return StationaryDistribution.of(probabilities, components, converges, degrees == 0)


def _cores(weights: "Matrix", count: int, components: npt.NDArray[np.int32]) -> Mask:
    """The nodes of the largest strongly connected part of each component, if it is large enough."""
    from scipy.sparse.csgraph import connected_components

    strong_count, strong = connected_components(weights, directed=True, connection="strong")
    sizes = np.bincount(strong, minlength=strong_count)
    component_of = np.zeros(strong_count, np.int64)
    component_of[strong] = components
    order = np.lexsort((np.arange(strong_count), -sizes, component_of))
    largest = order[np.flatnonzero(np.diff(component_of[order], prepend=-1))]
    enough = (sizes[largest] > 1) & (sizes[largest] >= MIN_CORE * np.bincount(components, minlength=count))
    chosen = np.zeros(strong_count, np.bool_)
    chosen[largest[enough]] = True
    return chosen[strong]


def _reaching(backward: "Matrix", core: Mask) -> Mask:
    """The nodes from which a core can be reached: one search backwards from an extra node joined to all cores."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    size, members = len(core), np.flatnonzero(core)
    joined = csr_array(
        (
            np.ones(backward.nnz + len(members)),
            np.concatenate([backward.indices, members]).astype(np.int32),
            np.concatenate([backward.indptr, [backward.nnz + len(members)]]).astype(np.int32),
        ),
        shape=(size + 1, size + 1),
    )
    found = np.zeros(size + 1, np.bool_)
    found[breadth_first_order(joined, size, return_predecessors=False)] = True
    return found[:-1]


def _pagerank_from(backward: "Matrix", degrees: npt.NDArray[np.floating], core: Mask) -> npt.NDArray[np.floating]:
    """PageRank that restarts anywhere in the cores, less the visits that are the restarts themselves.

    What reaches a dangling node restarts as well.
    """
    restarts = (core / max(core.sum(), 1)).astype(np.float32)
    shares = np.divide(1 - RESTART, degrees, out=np.zeros(len(core)), where=degrees > 0)
    x = moved = cast(npt.NDArray[np.floating], restarts)
    for _ in range(200):
        moved = backward @ (x * shares)
        after = moved + (1 - moved.sum()) * restarts
        change = float(np.abs(after - x).sum())
        x = after
        if change < 1e-5:
            break
    return moved
