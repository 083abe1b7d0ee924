"""Vectors of texts: token vectors, combined by attention to the mean of the text. With exact gradients, in numpy."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Tokens = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is learned: a vector and an attention bias for each token, and how tokens attend to their context."""

    tokens: Floats
    """One row per token; -1 stands for padding, which has none."""
    bias: Floats
    """One number per token, added to its attention score: unimportant words learn to be negative."""
    attention: Floats
    """The matrix W of the attention score e·Wc / sqrt(d) of token vector e in context c."""

    def copy(self) -> "Parameters":
        """A copy of the arrays."""
        return Parameters(self.tokens.copy(), self.bias.copy(), self.attention.copy())


@dataclass(frozen=True, slots=True)
class Encoding:
    """The vectors of texts, of length 1 or 0, and what their gradients need."""

    vectors: Floats
    texts: Tokens
    embedded: Floats
    weights: Floats
    means: Floats
    lengths: Floats


@dataclass(frozen=True, slots=True)
class Gradients:
    """The derivatives of a loss: of each place in the texts, which the caller sums by token, and of the matrix."""

    texts: Tokens
    tokens: Floats
    bias: Floats
    attention: Floats


def encode(parameters: Parameters, texts: Tokens) -> Encoding:
    """One vector per text: z = u / |u| with u = Σ a·e, where a = softmax(e·Wc / sqrt(d) + b) and c = mean of e.

    `texts` has one row of token numbers per text, filled up with -1. A text without tokens has a zero vector.

    >>> parameters = Parameters(np.eye(2), np.zeros(2), np.zeros((2, 2)))
    >>> encode(parameters, np.array([[0, 1], [1, -1], [-1, -1]])).vectors.round(3).tolist()
    [[0.707, 0.707], [0.0, 1.0], [0.0, 0.0]]
    """
    present = texts >= 0
    embedded = parameters.tokens[texts] * present[:, :, None]
    means = embedded.sum(axis=1) / _counts(present, embedded)
    queries = means @ parameters.attention * float(embedded.shape[2]) ** -0.5
    scores = np.einsum("btd,bd->bt", embedded, queries) + parameters.bias[texts]
    scores = np.where(present, scores, -np.inf)
    highest = scores.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isfinite(highest), highest, 0.0))
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(weights.dtype).tiny)
    summed = np.einsum("bt,btd->bd", weights, embedded)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    vectors = np.divide(summed, lengths, out=np.zeros_like(summed), where=lengths > 0)
    return Encoding(vectors, texts, embedded, weights, means, lengths)


def gradients(parameters: Parameters, found: Encoding, of_vectors: Floats) -> Gradients:
    """The derivatives of a loss by the parameters, given its derivatives by the vectors (chain rule through `encode`).

    The letters are those of `encode`; d_x is the derivative by x.

    >>> parameters = Parameters(np.eye(2), np.zeros(2), np.zeros((2, 2)))
    >>> found = encode(parameters, np.array([[0, 1]]))
    >>> gradients(parameters, found, np.array([[1.0, 0.0]])).tokens.round(3).tolist()
    [[[0.354, -0.354], [0.354, -0.354]]]
    """
    e, a, c, z = found.embedded, found.weights, found.means, found.vectors
    present = found.texts >= 0
    scale = float(e.shape[2]) ** -0.5
    along = (of_vectors * z).sum(axis=1, keepdims=True)
    d_u = np.divide(of_vectors - along * z, found.lengths, out=np.zeros_like(z), where=found.lengths > 0)
    d_a = np.einsum("btd,bd->bt", e, d_u)
    d_scores = a * (d_a - (a * d_a).sum(axis=1, keepdims=True))
    queries = c @ parameters.attention
    d_queries = np.einsum("bt,btd->bd", d_scores, e) * scale
    d_c = d_queries @ parameters.attention.T
    d_e = a[:, :, None] * d_u[:, None, :] + d_scores[:, :, None] * (queries * scale)[:, None, :]
    d_e += (d_c / _counts(present, e))[:, None, :] * present[:, :, None]
    return Gradients(found.texts, d_e, d_scores, c.T @ d_queries)


def _counts(present: npt.NDArray[np.bool_], like: Floats) -> Floats:
    """How many tokens each text has, at least 1, in the precision of the vectors."""
    counts: Floats = np.maximum(present.sum(axis=1, keepdims=True), 1).astype(like.dtype)
    return counts
