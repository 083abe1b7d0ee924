"""Smoothing: blends the vector of each document with those of its neighbours in the graph."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]


def smoothed(vectors: Matrix, nodes: Integers, offsets: Integers, neighbours: Integers, own_share: float) -> Matrix:
    """Each vector blended with the mean of its neighbours: own_share · own + (1 - own_share) · mean, with length 1.

    Row i is the vector of the document at node `nodes[i]`, whose neighbours are the nodes
    `neighbours[offsets[i]:offsets[i + 1]]`, each counted once. A neighbour that is no document, such as an entity, has
    the mean vector of the documents around it. Rows are scaled to length 1 before; one without neighbours, or whose
    neighbours are all zero, is unchanged. A node below 0 stands for a document that is not in the graph.

    >>> pair, edge = np.array([[1, 0], [0, 1]], np.float32), np.array([8])
    >>> found = smoothed(pair, np.array([7, 8]), np.array([0, 1, 1]), edge, own_share=0.6)
    >>> [f"{number:.3f}" for number in found.ravel()]
    ['0.832', '0.555', '0.000', '1.000']
    """
    if not 0 <= own_share <= 1:
        raise ValueError(f"own_share: {own_share} is not allowed; it must lie between 0 and 1")
    unit = _unit(vectors)
    pairs = np.stack([np.repeat(np.arange(len(unit)), np.diff(offsets)), neighbours.astype(np.int64)], axis=1)
    rows, targets = np.unique(pairs, axis=0).T  # several edges between two nodes are one neighbour
    row_of = {node: row for row, node in enumerate(nodes.tolist()) if node >= 0}
    known = np.array([row_of.get(node, -1) for node in targets.tolist()], np.int64)
    others, place = np.unique(targets[known < 0], return_inverse=True)
    around = _means(unit[rows[known < 0]], place, len(others))
    found = np.zeros((len(targets), unit.shape[1]), np.float32)
    found[known >= 0] = unit[known[known >= 0]]
    found[known < 0] = around[place]
    means = _means(found, rows, len(unit))
    mixed = own_share * unit + (1 - own_share) * means
    return _unit(np.where((np.abs(means).sum(axis=1) > 0)[:, None], mixed, unit).astype(np.float32))


def _means(vectors: Matrix, groups: Integers, count: int) -> Matrix:
    """The mean of the vectors of each group; zero for a group without any."""
    sums = np.zeros((count, vectors.shape[1]), np.float32)
    np.add.at(sums, groups, vectors)
    sizes = np.bincount(groups, minlength=count)
    means: Matrix = sums / np.maximum(sizes, 1).astype(np.float32)[:, None]
    return means


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
