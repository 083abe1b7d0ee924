"""Where a walk ends up that has forgotten its start: computed once per walk, then used by every question."""

from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Background

if TYPE_CHECKING:
    from hopweave.graph.walk import Walk

RESTART = 0.15
"""What a push leaves behind is spread widely but has not forgotten everything: it behaves like a walk with restarts."""

SMALLEST_CORE = 0.25
"""A directed part settles only if at least this share of its nodes can all reach one another."""


def background_of(walk: "Walk") -> Background | None:
    """The background of a walk: within each connected part, the share of the time a long walk spends on a node.

    Where every edge runs both ways this is degree / sum of degrees. In a directed graph it is PageRank that restarts
    anywhere in the largest strongly connected core of each part; a walk from a node that cannot reach the core, or
    in a part with hardly any core, does not settle.

    >>> from hopweave.graph.csr import Graph
    >>> from hopweave.graph.walk import walk_of
    >>> star = Graph.from_arrays(np.array([0, 0, 0]), np.array([1, 2, 3]))
    >>> background_of(walk_of(star, "both")).masses.tolist()[:2]
    [0.5, 0.16666666666666666]
    """
    if not walk.edge_count:
        return None
    from scipy.sparse.csgraph import connected_components

    count, parts = connected_components(walk.forward("float32"), directed=True, connection="weak")
    dead_ends = walk.degrees == 0
    masses: npt.NDArray[np.floating]
    if walk.symmetric:
        masses, settles = walk.degrees, ~dead_ends
    else:
        core = _cores(walk, count, parts)
        masses, settles = _onward_pagerank(walk, core), _reaching(walk, core)
    totals = np.bincount(parts, masses, count)[parts]
    shares = np.divide(masses, totals, out=np.zeros(walk.size), where=totals > 0)
    return Background.of(shares, parts, settles, dead_ends)


def _cores(walk: "Walk", count: int, parts: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """The nodes of the largest strongly connected component of each part, if it is a fair share of the part."""
    from scipy.sparse.csgraph import connected_components

    strong_count, strong = connected_components(walk.forward("float32"), directed=True, connection="strong")
    sizes = np.bincount(strong, minlength=strong_count)
    part_of = np.zeros(strong_count, np.int64)
    part_of[strong] = parts
    order = np.lexsort((np.arange(strong_count), -sizes, part_of))
    largest = order[np.flatnonzero(np.diff(part_of[order], prepend=-1))]
    fair = (sizes[largest] > 1) & (sizes[largest] >= SMALLEST_CORE * np.bincount(parts, minlength=count))
    chosen = np.zeros(strong_count, np.bool_)
    chosen[largest[fair]] = True
    return chosen[strong]


def _reaching(walk: "Walk", core: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The nodes from which a walk can arrive at a core: one search backwards from a node joined to all cores."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    backward, members = walk.backward("float32"), np.flatnonzero(core)
    joined = csr_array(
        (
            np.ones(walk.edge_count + len(members)),
            np.concatenate([backward.indices, members]).astype(np.int32),
            np.concatenate([backward.indptr, [walk.edge_count + len(members)]]).astype(np.int32),
        ),
        shape=(walk.size + 1, walk.size + 1),
    )
    found = np.zeros(walk.size + 1, np.bool_)
    found[breadth_first_order(joined, walk.size, return_predecessors=False)] = True
    return found[:-1]


def _onward_pagerank(walk: "Walk", core: npt.NDArray[np.bool_]) -> npt.NDArray[np.floating]:
    """PageRank that restarts anywhere in the cores, without the visits that are the restarts themselves.

    What reaches a dead end restarts as well.
    """
    restarts = (core / max(core.sum(), 1)).astype(np.float32)
    masses = onward = cast(npt.NDArray[np.floating], restarts)
    matrix = walk.backward("float32")
    for _ in range(200):
        onward = (1 - RESTART) * (matrix @ masses)
        moved = onward + (1 - onward.sum()) * restarts
        change = float(np.abs(moved - masses).sum())
        masses = moved
        if change < 1e-5:
            break
    return onward
