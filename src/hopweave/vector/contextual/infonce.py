"""InfoNCE: vectors of neighbours in a graph shall be more similar than vectors of random nodes.

A. van den Oord, Y. Li, O. Vinyals (2018), Representation Learning with Contrastive Predictive Coding.
"""

import numpy as np
import numpy.typing as npt

from hopweave.vector.contextual.encoder import Floats

Indices = npt.NDArray[np.integer]


def info_nce(anchors: Floats, others: Floats, same: Indices, temperature: float) -> tuple[float, Floats, Floats]:
    """The loss of pairs of unit vectors, and its derivatives by the first and by the second of each pair.

    loss = mean over pairs of -log(exp(a·p / t) / Σ exp(a·n / t)), where n are the second vectors of all pairs of the
    batch: its own is the positive, those of the others are random negatives. `same` numbers the nodes that the second
    vectors belong to; a node that occurs twice is no negative of itself.

    >>> loss, _, _ = info_nce(np.eye(2), np.eye(2), np.array([0, 1]), 1.0)
    >>> round(loss, 4)  # log(1 + exp(0 - 1))
    0.3133
    """
    count = len(anchors)
    logits = anchors @ others.T / temperature
    logits[(same[:, None] == same[None, :]) & ~np.eye(count, dtype=bool)] = -np.inf
    logits -= logits.max(axis=1, keepdims=True)
    shares = np.exp(logits)
    shares /= shares.sum(axis=1, keepdims=True)
    loss = float(-np.log(np.maximum(np.diagonal(shares), np.finfo(shares.dtype).tiny)).mean())
    d_logits = (shares - np.eye(count, dtype=shares.dtype)) / (count * temperature)
    return loss, d_logits @ others, d_logits.T @ anchors
