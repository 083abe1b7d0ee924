"""Training of contextual embeddings on the edges of a graph: what is connected shall have similar vectors."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from hopweave.vector.contextual.encoder import Floats, Gradients, Parameters, Tokens, encode, gradients
from hopweave.vector.contextual.infonce import info_nce

Edges = npt.NDArray[np.int64]
"""Pairs of node numbers, one row per edge."""

Progress = Callable[[int, float, float], object]
"""Called after each epoch with its number from 1, the loss of training and the loss of the edges held out."""


class Training(BaseModel):
    """How contextual embeddings are trained.

    >>> Training(epochs=3).own_share
    0.7
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    epochs: int = Field(default=30, ge=1, description="How often every edge is seen, at most.")
    patience: int = Field(default=3, ge=1, description="Stops after so many epochs without a lower held-out loss.")
    held_out: float = Field(default=0.1, gt=0, lt=1, description="Share of the edges that only measure the loss.")
    batch_size: int = Field(default=128, ge=2, description="Edges per step; each is a negative of the others.")
    temperature: float = Field(default=0.1, gt=0, description="Temperature of the InfoNCE loss.")
    own_share: float = Field(
        default=0.7, ge=0, le=1, description="Share of a node's own vector; the rest comes from its neighbours."
    )
    neighbours: int = Field(default=2, ge=0, description="How many neighbours are drawn for that.")
    learning_rate: float = Field(default=0.05, gt=0, description="Step size of Adagrad.")
    seed: int = Field(default=0, ge=0, description="Seed of order, neighbours and held-out edges.")


@dataclass(frozen=True, slots=True)
class Trained:
    """The parameters of the best epoch, and the held-out loss before training and after each epoch."""

    parameters: Parameters
    losses: tuple[float, ...]

    @property
    def best_epoch(self) -> int:
        """The epoch with the lowest held-out loss; 0 is the untrained start."""
        return int(np.argmin(self.losses))


def train(
    start: Parameters, texts: Tokens, edges: Edges, settings: Training | None = None, progress: Progress | None = None
) -> Trained:
    """Train on edges between nodes with texts, until the loss of the edges held out no longer falls.

    Node i has the tokens `texts[i]`, filled up with -1. For an edge (u, v), the vector of u, blended with those of
    neighbours other than v, shall be more similar to the vector of v than to those of other nodes (`info_nce`).

    J. Duchi, E. Hazan, Y. Singer (2011), Adaptive Subgradient Methods (Adagrad), one step size per row.

    >>> texts, edges = np.array([[0], [1], [2], [3]], np.int32), np.array([[0, 1], [2, 3]] * 20)
    >>> start = Parameters(np.random.default_rng(0).normal(size=(4, 8)), np.zeros(4), np.zeros((8, 8)))
    >>> trained = train(start, texts, edges, Training(epochs=5, batch_size=8, neighbours=0))
    >>> trained.losses[0] > trained.losses[trained.best_epoch]
    True
    """
    settings = settings or Training()
    random = np.random.default_rng(settings.seed)
    edges = random.permutation(edges)
    held_out = max(int(len(edges) * settings.held_out), 1)
    if len(edges) - held_out < 2:
        raise ValueError(f"edges: {len(edges)} are too few to train on; at least 4 are needed")
    measured, learned = edges[:held_out], edges[held_out:]
    graph = _Graph(learned, len(texts))
    parameters, steps = start.copy(), _Adagrad(settings.learning_rate, len(start.tokens))
    losses = [_held_out_loss(parameters, texts, measured, graph, settings)]
    best = parameters.copy()
    for epoch in range(1, settings.epochs + 1):
        total = 0.0
        for batch in _batches(random.permutation(learned), settings.batch_size):
            loss, found = _step(parameters, texts, batch, graph, settings, random)
            steps.descend(parameters, found)
            total += loss * len(batch)
        losses.append(_held_out_loss(parameters, texts, measured, graph, settings))
        if progress:
            progress(epoch, total / len(learned), losses[-1])
        if losses[-1] == min(losses):
            best = parameters.copy()
        elif epoch - int(np.argmin(losses)) >= settings.patience:
            break
    return Trained(best, tuple(losses))


def _batches(edges: Edges, size: int) -> list[Edges]:
    return [edges[first : first + size] for first in range(0, len(edges), size) if first + 1 < len(edges)]


def _held_out_loss(parameters: Parameters, texts: Tokens, edges: Edges, graph: "_Graph", settings: Training) -> float:
    """The same negatives and neighbours every time, so that epochs can be compared."""
    random = np.random.default_rng(settings.seed)
    batches = _batches(edges, settings.batch_size) or [edges]
    losses = [_loss(parameters, texts, batch, graph, settings, random)[0] * len(batch) for batch in batches]
    return sum(losses) / sum(map(len, batches))


def _loss(
    parameters: Parameters,
    texts: Tokens,
    edges: Edges,
    graph: "_Graph",
    settings: Training,
    random: np.random.Generator,
) -> tuple[float, Any]:
    """The loss of a batch, and all that its gradients need."""
    swapped = random.random(len(edges)) < 0.5
    anchors, others = np.where(swapped[:, None], edges[:, ::-1], edges).T
    drawn = graph.neighbours(anchors, settings.neighbours, random)
    nodes, places = np.unique(np.concatenate([anchors, others, drawn.ravel()]), return_inverse=True)
    count = len(edges)
    found = encode(parameters, texts[nodes])
    usable, dtype = drawn != others[:, None], found.vectors.dtype
    blend = _Blend(places[:count], places[2 * count :].reshape(count, -1), usable, settings.own_share, dtype)
    summed = blend.of(found.vectors)
    lengths = np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12)
    fused = summed / lengths
    loss, d_fused, d_others = info_nce(fused, found.vectors[places[count : 2 * count]], others, settings.temperature)
    d_summed = (d_fused - (d_fused * fused).sum(axis=1, keepdims=True) * fused) / lengths
    return loss, (found, blend, d_summed, places[count : 2 * count], d_others)


def _step(
    parameters: Parameters,
    texts: Tokens,
    edges: Edges,
    graph: "_Graph",
    settings: Training,
    random: np.random.Generator,
) -> tuple[float, Gradients]:
    loss, (found, blend, d_summed, others, d_others) = _loss(parameters, texts, edges, graph, settings, random)
    d_vectors = blend.transposed(d_summed, len(found.vectors))
    np.add.at(d_vectors, others, d_others)
    return loss, gradients(parameters, found, d_vectors)


class _Graph:
    """Neighbours of nodes, both ways."""

    def __init__(self, edges: Edges, size: int) -> None:
        ends = np.concatenate([edges, edges[:, ::-1]])
        ends = ends[np.argsort(ends[:, 0], kind="stable")]
        self._offsets = np.searchsorted(ends[:, 0], np.arange(size + 1))
        self._targets = ends[:, 1]

    def neighbours(self, nodes: Edges, count: int, random: np.random.Generator) -> Edges:
        """Some neighbours of each node, drawn at random; the node itself if it has none."""
        first, last = self._offsets[nodes], self._offsets[nodes + 1]
        drawn = first[:, None] + (random.random((len(nodes), count)) * (last - first)[:, None]).astype(np.int64)
        if not len(self._targets):
            return np.repeat(nodes[:, None], count, axis=1)
        found = self._targets[np.minimum(drawn, len(self._targets) - 1)]
        return np.where((last > first)[:, None], found, nodes[:, None])


class _Blend:
    """own_share · own + (1 - own_share) · mean of the neighbours that may be used."""

    def __init__(
        self, own: Edges, neighbours: Edges, usable: npt.NDArray[np.bool_], own_share: float, dtype: Any
    ) -> None:
        self._own, self._neighbours = own, neighbours
        counts = usable.sum(axis=1, keepdims=True)
        self._shares = ((1 - own_share) * usable / np.maximum(counts, 1)).astype(dtype)
        self._own_shares = np.where(counts > 0, own_share, 1.0).astype(dtype)

    def of(self, vectors: Floats) -> Floats:
        """What is blended of these vectors."""
        blended: Floats = self._own_shares * vectors[self._own]
        blended += np.einsum("bk,bkd->bd", self._shares, vectors[self._neighbours])
        return blended

    def transposed(self, derivatives: Floats, size: int) -> Floats:
        """The derivatives by the vectors, given those by what was blended of them."""
        summed: Floats = np.zeros((size, derivatives.shape[1]), derivatives.dtype)
        np.add.at(summed, self._own, self._own_shares * derivatives)
        np.add.at(summed, self._neighbours, self._shares[:, :, None] * derivatives[:, None, :])
        return summed


class _Adagrad:
    """Steps that become smaller for what has had large gradients; rows of tokens that did not occur stay."""

    def __init__(self, learning_rate: float, tokens: int) -> None:
        self._rate = learning_rate
        self._tokens, self._bias = np.zeros((tokens, 1), np.float32), np.zeros(tokens, np.float32)
        self._attention = 0.0

    def descend(self, parameters: Parameters, found: Gradients) -> None:
        """Change parameters in place."""
        from scipy.sparse import csr_array

        places = found.texts.ravel()
        present = places >= 0
        rows, inverse = np.unique(places[present], return_inverse=True)
        summing = csr_array(
            (np.ones(len(inverse), found.tokens.dtype), inverse, np.arange(len(inverse) + 1)),
            shape=(len(inverse), len(rows)),
        ).T
        size = found.tokens.shape[2]
        tokens: Floats = np.asarray(summing @ found.tokens.reshape(-1, size)[present])
        bias: Floats = np.asarray(summing @ found.bias.ravel()[present])
        self._tokens[rows] += (tokens**2).mean(axis=1, keepdims=True)
        self._bias[rows] += bias**2
        self._attention += float((found.attention**2).mean())
        parameters.tokens[rows] -= self._rate * tokens / np.sqrt(self._tokens[rows] + 1e-12)
        parameters.bias[rows] -= self._rate * bias / np.sqrt(self._bias[rows] + 1e-12)
        parameters.attention[...] -= self._rate * found.attention / np.sqrt(self._attention + 1e-12)
