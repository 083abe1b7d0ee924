"""Vectors sorted into cells by their nearest centroid, so that a search looks into a few of them (an inverted file)."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]

_ROUNDS = 8
_SAMPLE_PER_CELL = 64
_QUESTIONS = 128
_NEIGHBOURS = 20
_WANTED_RECALL = 0.995
_BLOCK = 65_536  # vectors whose cosines to all centroids are held at a time


def centroids_of(matrix: Matrix, seed: int = 0) -> Matrix:
    """Centroids of unit vectors by spherical k-means on a sample (Dhillon and Modha, 2001), about √n of them.

    >>> len(centroids_of(np.eye(9, dtype=np.float32)))
    3
    """
    chance = np.random.default_rng(seed)
    count = max(int(len(matrix) ** 0.5), 1)
    sample = matrix[np.sort(chance.permutation(len(matrix))[: count * _SAMPLE_PER_CELL])]
    centroids: Matrix = sample[chance.permutation(len(sample))[:count]].copy()
    for _ in range(_ROUNDS):
        cells = nearest(sample, centroids)
        sums: Matrix = np.zeros(centroids.shape, np.float32)
        np.add.at(sums, cells, sample)
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        empty = lengths == 0
        sums[empty] = sample[chance.integers(len(sample), size=int(np.count_nonzero(empty)))]
        centroids = (sums / np.where(empty, 1, lengths)[:, None]).astype(np.float32)
    return centroids


def nearest(matrix: Matrix, centroids: Matrix) -> Numbers:
    """The cell of each vector.

    >>> nearest(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32)[::-1]).tolist()
    [1, 0]
    """
    blocks = (matrix[start : start + _BLOCK] for start in range(0, len(matrix), _BLOCK))
    return np.concatenate([np.empty(0, np.int64), *((block @ centroids.T).argmax(axis=1) for block in blocks)])


def probes_needed(matrix: Matrix, cells: Numbers, centroids: Matrix, seed: int = 0) -> int:
    """In how many cells a search has to look to find nearly all that an exact one finds.

    Measured with questions that lie between two of the vectors, since real questions are not among them either.
    """
    chance = np.random.default_rng(seed)
    one, other = (matrix[chance.integers(len(matrix), size=_QUESTIONS)] for _ in range(2))
    questions = one + np.float32(0.5) * other
    wanted = min(_NEIGHBOURS, len(matrix))
    cosines = questions @ matrix.T
    best = np.argpartition(-cosines, wanted - 1, axis=1)[:, :wanted]
    order = np.argsort(-(questions @ centroids.T), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
    ranks = np.sort(np.take_along_axis(rank, cells[best], axis=1).ravel())
    return int(ranks[min(int(_WANTED_RECALL * len(ranks)), len(ranks) - 1)]) + 1
