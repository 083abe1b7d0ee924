"""Personalised PageRank by solving for the whole graph at once, for one question or for many.

All three solvers start near the stationary distribution, so that only the difference has to be found. They work on
one column per question, or on a plain vector for a single one.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Floats
from hopweave.graph.storage.csr import slices
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_matrix import Precision, TransitionMatrix


@dataclass(frozen=True, slots=True)
class Solution:
    """Scores of every node, in the shape of the seeds, and for each question a bound of the sum of their errors."""

    scores: Floats
    iterations: int
    residuals: Floats
    finished: bool


def power(matrix: TransitionMatrix, seeds: Floats, options: SolverOptions) -> Solution:
    """Power iteration: x <- restart * s + (1 - restart) * Pᵀx, until the sum of all errors is below `tolerance`.

    What arrives at a dangling node goes back to the seeds s. `seeds` is a vector with sum 1, or one column per
    question. L. Page, S. Brin, R. Motwani, T. Winograd (1999), The PageRank Citation Ranking.

    >>> from hopweave.graph.storage.csr import Graph
    >>> from hopweave.graph.walk.transition_matrix import transition_matrix
    >>> chain = transition_matrix(Graph.from_arrays(np.array([0]), np.array([1])), "out")
    >>> power(chain, np.array([1.0, 0.0]), SolverOptions(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = options.restart, options.tolerance
    seeds = seeds.astype(options.precision, copy=False)
    operator = _TransitionOperator(matrix, options, seeds)
    x = restart * seeds + (1 - restart) * operator.stationary(seeds)
    x += (1 - x.sum(axis=0)) * seeds
    iterations, max_iterations = 0, _max_iterations(restart, tolerance)
    while iterations < max_iterations:
        iterations += 1
        moved = operator.step(x)
        moved += (1 - moved.sum(axis=0)) * seeds
        residuals = np.abs(moved - x).sum(axis=0) * ((1 - restart) / restart)
        x = moved
        late = options.past_deadline
        if late or residuals.max() <= tolerance:
            break
    return Solution(x, iterations, residuals, not late or bool(residuals.max() <= tolerance))


def conjugate_gradient(matrix: TransitionMatrix, seeds: Floats, options: SolverOptions) -> Solution:
    """Conjugate gradients on (I - (1 - restart) * Pᵀ) x = restart * s, for a graph whose edges run both ways.

    There Pᵀ = A / D is symmetric in the inner product u·v / D. M. R. Hestenes, E. Stiefel (1952), Methods of Conjugate
    Gradients for Solving Linear Systems; there r is the residual, p the direction and Ap the product.

    >>> from hopweave.graph.storage.csr import Graph
    >>> from hopweave.graph.walk.transition_matrix import transition_matrix
    >>> pair = transition_matrix(Graph.from_arrays(np.array([0]), np.array([1])), "both")
    >>> conjugate_gradient(pair, np.array([1.0, 0.0]), SolverOptions(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = options.restart, options.tolerance
    seeds = seeds.astype(options.precision, copy=False)
    operator = _TransitionOperator(matrix, options, seeds)
    x, residual = operator.start(seeds)
    metric = operator.metric(seeds)
    direction, norm = residual.copy(), _dot(residual * metric, residual)
    late = False
    for iterations in range(_max_iterations(restart, tolerance) + 1):
        # the sum of errors is at most the sum of residuals / restart, in proportion to all scores
        residuals = np.abs(residual).sum(axis=0) / (restart * x.sum(axis=0))
        late = iterations > 0 and options.past_deadline
        if late or residuals.max() <= tolerance:
            break
        product = operator.step(direction)
        np.subtract(direction, product, out=product)
        alpha = _quotient(norm, _dot(direction * metric, product))
        x += alpha * direction
        product *= alpha
        residual -= product
        new_norm = _dot(residual * metric, residual)
        direction *= _quotient(new_norm, norm)
        direction += residual
        norm = new_norm
    return Solution(x / x.sum(axis=0), iterations, residuals, not late or bool(residuals.max() <= tolerance))


def bicgstab(matrix: TransitionMatrix, seeds: Floats, options: SolverOptions) -> Solution:
    """Stabilised bi-conjugate gradients on (I - (1 - restart) * Pᵀ) x = restart * s, for any graph.

    On nearly bipartite graphs, such as passages and entities, it needs far fewer steps than power iteration. If it
    breaks down, power iteration takes over. H. A. van der Vorst (1992), Bi-CGSTAB: A Fast and Smoothly Converging
    Variant of Bi-CG; the letters are those of the paper, with `residual` for r and `direction` for p.

    >>> from hopweave.graph.storage.csr import Graph
    >>> from hopweave.graph.walk.transition_matrix import transition_matrix
    >>> chain = transition_matrix(Graph.from_arrays(np.array([0]), np.array([1])), "out")
    >>> bicgstab(chain, np.array([1.0, 0.0]), SolverOptions(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = options.restart, options.tolerance
    seeds = seeds.astype(options.precision, copy=False)
    operator = _TransitionOperator(matrix, options, seeds)
    x = restart * seeds + (1 - restart) * operator.stationary(seeds)
    residual = restart * seeds - x + operator.step(x)
    r_hat, direction, rho = residual, residual, _dot(residual, residual)
    late = False
    for iterations in range(_max_iterations(restart, tolerance) + 1):
        residuals = np.abs(residual).sum(axis=0) / (restart * x.sum(axis=0))
        late = iterations > 0 and options.past_deadline
        if late or residuals.max() <= tolerance:
            break
        v = direction - operator.step(direction)
        alpha = _quotient(rho, _dot(r_hat, v))
        s = residual - alpha * v
        t = s - operator.step(s)
        omega = _quotient(_dot(t, s), _dot(t, t))
        x = x + alpha * direction + omega * s
        residual = s - omega * t
        new_rho = _dot(r_hat, residual)
        beta = _quotient(new_rho, rho) * _quotient(alpha, omega)
        direction = residual + beta * (direction - omega * v)
        rho = new_rho
    converged = bool(residuals.max() <= tolerance)
    if not converged and not late:
        return power(matrix, seeds, options)
    x = np.maximum(x, 0)
    return Solution(x / x.sum(axis=0), iterations, residuals, converged)


class _TransitionOperator:
    """The matrix (1 - restart) * Pᵀ, where P moves along an edge in proportion to its weight x bias of its target."""

    def __init__(self, matrix: TransitionMatrix, options: SolverOptions, like: Floats) -> None:
        """`like` has the shape of the vectors: one column per question, or a plain vector."""
        self._matrix = matrix
        self._options = options
        self._transposed = matrix.backward(options.precision)
        self._bias: Floats | None = None
        if options.node_bias is not None:
            carried = 1 - options.restart
            bias = np.asarray(options.node_bias, options.precision)
            mean_bias = np.asarray(matrix.forward(options.precision) @ bias)  # over the edges of each node
            scale = np.divide(carried, mean_bias, out=np.zeros_like(mean_bias), where=mean_bias > 0)
            self._bias, self._scale = _column(bias, like), _column(scale, like)
            self._weight = _column(bias * mean_bias, like)

    def step(self, x: Floats) -> Floats:
        """(1 - restart) * Pᵀx."""
        if self._bias is None:
            moved = self._transposed @ x
            moved *= 1 - self._options.restart
            return np.asarray(moved)
        return np.asarray((self._transposed @ (x * self._scale)) * self._bias)

    def stationary(self, seeds: Floats) -> Floats:
        """The stationary distribution of the components that the seeds lie in.

        With a node bias it is exact where edges run both ways, and 0 if some nodes are forbidden: these may cut a
        component into several.
        """
        plain = _stationary(self._matrix, seeds)
        if self._bias is None:
            return plain
        if not np.all(np.asarray(self._options.node_bias)):
            return np.zeros_like(plain)
        biased = plain * self._weight
        return np.asarray(biased * _quotient(plain.sum(axis=0), biased.sum(axis=0)), plain.dtype)

    def start(self, seeds: Floats) -> tuple[Floats, Floats]:
        """A first x and its residual."""
        restart = self._options.restart
        x: Floats
        if self._bias is None:
            # a step does not change the stationary distribution, so this residual needs only the edges of the seeds
            stationary = (1 - restart) * _stationary(self._matrix, seeds)
            x = restart * seeds + stationary
            return x, restart * ((1 - restart) * _one_step(self._matrix, seeds, self._options.precision) - stationary)
        x = restart * seeds + (1 - restart) * self.stationary(seeds)
        return x, restart * seeds - x + self.step(x)

    def metric(self, like: Floats) -> Floats:
        """The weight of each node in the inner product in which a walk whose edges run both ways is symmetric."""
        inverse = _column(self._matrix.inverse_degrees(self._options.precision), like)
        if self._bias is None:
            return inverse
        # with node bias b, edges run both ways as well: the weight of an edge is then b·w·b
        return np.asarray(inverse / np.where(self._weight > 0, self._weight, 1))


def _stationary(matrix: TransitionMatrix, seeds: Floats) -> Floats:
    """The stationary distribution of the components that the seeds lie in, without node bias."""
    stationary = matrix.stationary_distribution
    if stationary is None:
        return np.zeros_like(seeds)
    nodes, *questions = np.nonzero(seeds > 0)
    mass = np.zeros((len(stationary.dangling_mass), *seeds.shape[1:]), seeds.dtype)
    np.add.at(mass, (stationary.components[nodes], *questions), seeds[nodes, *questions] * stationary.converges[nodes])
    probabilities = matrix.stationary_probabilities("float32" if seeds.dtype == np.float32 else "float64")
    return np.asarray(mass[stationary.components] * _column(probabilities, seeds))


def _one_step(matrix: TransitionMatrix, seeds: Floats, precision: Precision) -> Floats:
    """Pᵀs, from the edges of the seeds alone."""
    nodes, *questions = np.nonzero(seeds > 0)
    offsets, positions = slices(matrix.indptr, nodes)
    counts = np.diff(offsets)
    amounts = matrix.probabilities(precision)[positions] * np.repeat(seeds[nodes, *questions], counts)
    moved, targets = np.zeros_like(seeds), matrix.targets[positions]
    if questions:
        np.add.at(moved, (targets, np.repeat(questions[0], counts)), amounts)
    else:
        np.add.at(moved, targets, amounts)
    return moved


def _column(values: npt.NDArray[Any], like: Floats) -> npt.NDArray[Any]:
    """One value per node, in a shape that multiplies `like`."""
    return values if like.ndim == 1 else values[:, None]


def _max_iterations(restart: float, tolerance: float) -> int:
    """The number of iterations after which the error is within rounding."""
    return 10 if restart == 1 else 10 + math.ceil(math.log(tolerance * restart / 2) / math.log1p(-restart))


def _dot(left: Floats, right: Floats) -> Any:
    """The inner product of each column; a plain number for a vector."""
    return float(np.vdot(left, right)) if left.ndim == 1 else (left * right).sum(axis=0)


def _quotient(above: Any, below: Any) -> Any:
    if np.ndim(below) == 0:
        return above / below if below else 0.0
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
