"""Edges between names that mean nearly the same, by the similarity of their vectors."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hopweave.extras import of_extra
from hopweave.graph.model import Edge

_MAX_EXACT = 20_000  # above it, names are compared within the cells of a coarse partition
_BLOCK = 256  # rows whose cosines to all others are held at a time


def synonym_edges(
    node_ids: Sequence[str],
    vectors: npt.NDArray[np.floating],
    *,
    min_similarity: float = 0.8,
    max_neighbours: int = 10,
) -> list[Edge]:
    """One `similar_to` edge for each pair of nodes whose cosine is at least `min_similarity`, weighing the cosine.

    Each node looks at its `max_neighbours` nearest. The edges depend on the names alone, so indexing twice cannot
    multiply them. More than 20,000 nodes need the extra `hopweave[faiss]`.

    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> [(edge.source, edge.target, round(edge.weight, 2)) for edge in synonym_edges(["a", "b", "c"], vectors)]
    [('a', 'b', 0.99)]
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if len(node_ids) != len(rows):
        raise ValueError(f"vectors has {len(rows)} rows for {len(node_ids)} node_ids; they must be as many")
    if not -1 <= min_similarity <= 1:
        raise ValueError(f"min_similarity {min_similarity} is not allowed; a cosine lies between -1 and 1")
    if max_neighbours < 1:
        raise ValueError(f"max_neighbours {max_neighbours} is not allowed; it must be 1 or more")
    lengths = np.linalg.norm(rows, axis=1) if len(rows) else np.zeros(0, dtype=np.float32)
    if not np.isfinite(lengths).all():
        raise ValueError(f"the vector of {node_ids[int(np.flatnonzero(~np.isfinite(lengths))[0])]!r} is not finite")
    usable = np.flatnonzero(lengths > 0)  # a zero vector is similar to nothing
    if len(usable) < 2:
        return []
    unit = np.ascontiguousarray(rows[usable] / lengths[usable, None])
    nearest = _nearest if len(unit) <= _MAX_EXACT else _nearest_in_cells
    pairs: dict[tuple[str, str], float] = {}
    for row, neighbour, score in nearest(unit, min(max_neighbours + 1, len(usable)), min_similarity):
        one, other = node_ids[usable[row]], node_ids[usable[neighbour]]
        if one != other and score >= min_similarity:
            pair = (min(one, other), max(one, other))
            pairs[pair] = max(pairs.get(pair, 0.0), min(score, 1.0))
    return [Edge(source, target, "similar_to", pairs[source, target]) for source, target in sorted(pairs)]


def _nearest(unit: npt.NDArray[np.float32], count: int, min_similarity: float) -> Iterator[tuple[int, int, float]]:
    """Of each row, the rows nearest to it, and their cosines; those below `min_similarity` may be left out."""
    for start in range(0, len(unit), _BLOCK):
        cosines = unit[start : start + _BLOCK] @ unit.T
        rows, found = np.nonzero(cosines >= np.float32(min_similarity) - np.float32(1e-6))
        scores = cosines[rows, found]
        order = np.lexsort((found, -scores, rows))
        first = np.searchsorted(rows, np.arange(len(cosines)))
        kept = order[np.arange(len(rows)) - first[rows] < count]  # rows are sorted, so order permutes within each
        yield from zip((rows[kept] + start).tolist(), found[kept].tolist(), scores[kept].tolist(), strict=True)


def _nearest_in_cells(
    unit: npt.NDArray[np.float32],
    count: int,
    min_similarity: float,  # noqa: ARG001 - the shape of both
) -> Iterator[tuple[int, int, float]]:
    faiss = of_extra("faiss", "faiss")
    size, dimensions = unit.shape
    cells = 2 * math.isqrt(size)
    # cells instead of a navigable graph: building one in several threads would not be repeatable
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, cells, faiss.METRIC_INNER_PRODUCT)
    index.nprobe = max(cells // 16, 8)
    index.train(unit)
    index.add(unit)
    scores, found = index.search(unit, count)
    rows, places = np.nonzero(found >= 0)
    yield from zip(rows.tolist(), found[rows, places].tolist(), scores[rows, places].tolist(), strict=True)
