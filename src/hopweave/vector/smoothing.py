"""Smoothing: blends the vector of each document with those of its neighbours in the graph."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Integers = npt.NDArray[np.integer]


def smoothed(vectors: Matrix, offsets: Integers, neighbours: Integers, own_share: float = 0.7) -> Matrix:
    """Each vector blended with the mean of its neighbours: own_share · own + (1 - own_share) · mean, with length 1.

    The neighbours of row i are the rows `neighbours[offsets[i]:offsets[i + 1]]`. Rows are scaled to length 1
    before; a row without neighbours, or whose neighbours are all zero, is unchanged.

    >>> pair = np.array([[1, 0], [0, 1]], np.float32)
    >>> [f"{number:.3f}" for number in smoothed(pair, np.array([0, 1, 1]), np.array([1]), own_share=0.6).ravel()]
    ['0.832', '0.555', '0.000', '1.000']
    """
    if not 0 <= own_share <= 1:
        raise ValueError(f"own_share: {own_share} is not allowed; it must lie between 0 and 1")
    unit = _unit(vectors)
    counts = np.diff(offsets)
    sums = np.zeros_like(unit)
    np.add.at(sums, np.repeat(np.arange(len(unit)), counts), unit[neighbours])
    means = sums / np.maximum(counts, 1)[:, None]
    mixed = own_share * unit + (1 - own_share) * means
    return _unit(np.where((np.abs(means).sum(axis=1) > 0)[:, None], mixed, unit).astype(np.float32))


def _unit(vectors: Matrix) -> Matrix:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
