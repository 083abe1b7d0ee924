"""The stationary distribution of a random walk: computed once per graph and weights, then used by every question."""

from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Mask, StationaryDistribution

if TYPE_CHECKING:
    from hopweave.graph.walk.transitions import Matrix

RESTART = 0.15
"""For edges that weigh more one way: the residual of a push still depends on the seeds, like a walk with restarts."""


def stationary_distribution(weights: "Matrix") -> StationaryDistribution | None:
    """The stationary distribution within each connected component: the share of a long walk's visits to each node.

    `weights` are what the walk follows edges by (`weight_matrix`). Where every edge runs both ways with one weight this
    is degree / sum of degrees; otherwise it is PageRank that restarts at any node. In a component with edges that can
    only be followed one way, a walk does not converge. None if there are no edges.

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
    _, components = connected_components(weights, directed=True, connection="weak")
    degrees: npt.NDArray[np.float64] = np.asarray(weights.sum(axis=1))
    visits: npt.NDArray[np.floating]
    if abs(weights - weights.T).nnz == 0:
        visits, converges = degrees, degrees > 0
    else:
        _, strong = connected_components(weights, directed=True, connection="strong")
        converges = (np.bincount(strong)[strong] == np.bincount(components)[components]) & (degrees > 0)
        visits = _pagerank_from(weights.T.tocsr(), degrees, converges)
    totals = np.bincount(components, visits)[components]
    probabilities = np.divide(visits, totals, out=np.zeros(size), where=totals > 0)
    return StationaryDistribution.of(probabilities, components, converges)


def _pagerank_from(backward: "Matrix", degrees: npt.NDArray[np.floating], starts: Mask) -> npt.NDArray[np.floating]:
    """PageRank that restarts at any of the starts, less the visits that are the restarts themselves.

    What reaches a dangling node restarts as well.
    """
    restarts = (starts / max(starts.sum(), 1)).astype(np.float32)
    shares = np.divide(1 - RESTART, degrees, out=np.zeros(len(starts)), where=degrees > 0)
    x = moved = cast(npt.NDArray[np.floating], restarts)
    for _ in range(200):
        moved = backward @ (x * shares)
        after = moved + (1 - moved.sum()) * restarts
        change = float(np.abs(after - x).sum())
        x = after
        if change < 1e-5:
            break
    return moved
