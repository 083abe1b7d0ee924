"""The stationary distribution of a random walk: computed once per transition matrix, then used by every question."""

from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import StationaryDistribution

if TYPE_CHECKING:
    from hopweave.graph.walk.transition_matrix import TransitionMatrix

RESTART = 0.15
"""For directed graphs: the residual of a push still depends on the seeds a little, like a walk with restarts."""

MIN_CORE = 0.25
"""A directed walk converges only in components of which at least this share is strongly connected."""


def stationary_distribution(matrix: "TransitionMatrix") -> StationaryDistribution | None:
    """The stationary distribution within each connected component: the share of a long walk's visits to each node.

    Where every edge runs both ways this is degree / sum of degrees. In a directed graph it is PageRank that restarts
    anywhere in the core of each component, its largest strongly connected part; a walk from a node that cannot reach
    the core, or in a component with too small a core, does not converge.

    >>> from hopweave.graph.storage.csr import Graph
    >>> from hopweave.graph.walk.transition_matrix import transition_matrix
    >>> star = Graph.from_arrays(np.array([0, 0, 0]), np.array([1, 2, 3]))
    >>> stationary_distribution(transition_matrix(star, "both")).probabilities.tolist()[:2]
    [0.5, 0.16666666666666666]
    """
    if not matrix.edge_count:
        return None
    from scipy.sparse.csgraph import connected_components

    count, components = connected_components(matrix.forward("float32"), directed=True, connection="weak")
    dangling = matrix.degrees == 0
    visits: npt.NDArray[np.floating]
    if matrix.symmetric:
        visits, converges = matrix.degrees, ~dangling
    else:
        core = _cores(matrix, count, components)
        visits, converges = _pagerank_from(matrix, core), _reaching(matrix, core)
    totals = np.bincount(components, visits, count)[components]
    probabilities = np.divide(visits, totals, out=np.zeros(matrix.size), where=totals > 0)
    return StationaryDistribution.of(probabilities, components, converges, dangling)


def _cores(matrix: "TransitionMatrix", count: int, components: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """The nodes of the largest strongly connected part of each component, if it is large enough."""
    from scipy.sparse.csgraph import connected_components

    strong_count, strong = connected_components(matrix.forward("float32"), directed=True, connection="strong")
    sizes = np.bincount(strong, minlength=strong_count)
    component_of = np.zeros(strong_count, np.int64)
    component_of[strong] = components
    order = np.lexsort((np.arange(strong_count), -sizes, component_of))
    largest = order[np.flatnonzero(np.diff(component_of[order], prepend=-1))]
    enough = (sizes[largest] > 1) & (sizes[largest] >= MIN_CORE * np.bincount(components, minlength=count))
    chosen = np.zeros(strong_count, np.bool_)
    chosen[largest[enough]] = True
    return chosen[strong]


def _reaching(matrix: "TransitionMatrix", core: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The nodes from which a core can be reached: one search backwards from an extra node joined to all cores."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    backward, members = matrix.backward("float32"), np.flatnonzero(core)
    joined = csr_array(
        (
            np.ones(matrix.edge_count + len(members)),
            np.concatenate([backward.indices, members]).astype(np.int32),
            np.concatenate([backward.indptr, [matrix.edge_count + len(members)]]).astype(np.int32),
        ),
        shape=(matrix.size + 1, matrix.size + 1),
    )
    found = np.zeros(matrix.size + 1, np.bool_)
    found[breadth_first_order(joined, matrix.size, return_predecessors=False)] = True
    return found[:-1]


def _pagerank_from(matrix: "TransitionMatrix", core: npt.NDArray[np.bool_]) -> npt.NDArray[np.floating]:
    """PageRank that restarts anywhere in the cores, less the visits that are the restarts themselves.

    What reaches a dangling node restarts as well.
    """
    restarts = (core / max(core.sum(), 1)).astype(np.float32)
    x = moved = cast(npt.NDArray[np.floating], restarts)
    transposed = matrix.backward("float32")
    for _ in range(200):
        moved = (1 - RESTART) * (transposed @ x)
        after = moved + (1 - moved.sum()) * restarts
        change = float(np.abs(after - x).sum())
        x = after
        if change < 1e-5:
            break
    return moved
