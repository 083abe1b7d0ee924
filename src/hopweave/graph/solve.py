"""Personalised PageRank by solving for the whole graph at once, for one question or for many.

Both solvers start from the background: what a walk forgets is already there, and only what it remembers has to be
found. They work on one column per question, or on a plain vector for a single one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.graph.csr import slices
from hopweave.graph.port import Floats
from hopweave.graph.terms import Terms
from hopweave.graph.walk import Precision, Walk


@dataclass(frozen=True, slots=True)
class Solved:
    """Scores of every node, in the shape of the starts, and for each question how far they can be off."""

    scores: Floats
    iterations: int
    residuals: Floats
    finished: bool


def power(walk: Walk, starts: Floats, terms: Terms) -> Solved:
    """Power iteration: x <- restart * s + (1 - restart) * Pᵀx, until the sum of all errors is below `tolerance`.

    What arrives at a dead end goes back to the seeds s. `starts` is a vector with sum 1, or one column per question.

    >>> from hopweave.graph.csr import Graph
    >>> from hopweave.graph.walk import walk_of
    >>> chain = walk_of(Graph.from_arrays(np.array([0]), np.array([1])), "out")
    >>> power(chain, np.array([1.0, 0.0]), Terms(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = terms.restart, terms.tolerance
    starts = starts.astype(terms.precision, copy=False)
    reach = _reach(walk, terms)
    onward = _onward(walk, terms, starts, reach)
    scores = restart * starts + (1 - restart) * _drawn(_forgotten(walk, starts), terms, reach)
    scores += (1 - scores.sum(axis=0)) * starts
    iterations, limit = 0, _rounds_enough(restart, tolerance)
    while iterations < limit:
        iterations += 1
        moved = onward(scores)
        moved += (1 - moved.sum(axis=0)) * starts
        residuals = np.abs(moved - scores).sum(axis=0) * ((1 - restart) / restart)
        scores = moved
        late = terms.late
        if late or residuals.max() <= tolerance:
            break
    return Solved(scores, iterations, residuals, not late or bool(residuals.max() <= tolerance))


def conjugate_gradient(walk: Walk, starts: Floats, terms: Terms) -> Solved:
    """Conjugate gradients on (I - (1 - restart) * Pᵀ) x = restart * s, for a walk whose edges run both ways.

    There Pᵀ = A / D is symmetric in the inner product u·v / D.

    >>> from hopweave.graph.csr import Graph
    >>> from hopweave.graph.walk import walk_of
    >>> pair = walk_of(Graph.from_arrays(np.array([0]), np.array([1])), "both")
    >>> conjugate_gradient(pair, np.array([1.0, 0.0]), Terms(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = terms.restart, terms.tolerance
    starts = starts.astype(terms.precision, copy=False)
    reach = _reach(walk, terms)
    onward = _onward(walk, terms, starts, reach)
    rest: Floats
    resistance = _tall(walk.resistance(terms.precision), starts)
    if terms.pull is None:
        # the background does not change by walking, so the first residual needs only the edges of the seeds
        forgotten = (1 - restart) * _forgotten(walk, starts)
        found = restart * starts + forgotten
        rest = restart * ((1 - restart) * _one_step(walk, starts, terms.precision) - forgotten)
    else:
        # a walk with pulls p runs both ways as well: the weight of an edge is then p·w·p
        drawn = _tall(np.asarray(terms.pull, terms.precision) * reach, starts)
        resistance = resistance / np.where(drawn > 0, drawn, 1)
        found = restart * starts + (1 - restart) * _drawn(_forgotten(walk, starts), terms, reach)
        rest = restart * starts - found + onward(found)
    course, size = rest.copy(), _dots(rest * resistance, rest)
    late, limit = False, _rounds_enough(restart, tolerance)
    for iterations in range(limit + 1):
        # the sum of errors is at most the sum of residuals / restart, in proportion to all visits
        residuals = np.abs(rest).sum(axis=0) / (restart * found.sum(axis=0))
        late = iterations > 0 and terms.late
        if late or residuals.max() <= tolerance:
            break
        image = onward(course)
        np.subtract(course, image, out=image)
        step = _quotient(size, _dots(course * resistance, image))
        found += step * course
        image *= step
        rest -= image
        new_size = _dots(rest * resistance, rest)
        course *= _quotient(new_size, size)
        course += rest
        size = new_size
    return Solved(found / found.sum(axis=0), iterations, residuals, not late or bool(residuals.max() <= tolerance))


def bicgstab(walk: Walk, starts: Floats, terms: Terms) -> Solved:
    """Stabilised bi-conjugate gradients on (I - (1 - restart) * Pᵀ) x = restart * s, for any walk.

    Where a walk goes to and fro, as between passages and entities, it needs far fewer steps than power iteration.
    Should it break down, power iteration takes over.

    >>> from hopweave.graph.csr import Graph
    >>> from hopweave.graph.walk import walk_of
    >>> chain = walk_of(Graph.from_arrays(np.array([0]), np.array([1])), "out")
    >>> bicgstab(chain, np.array([1.0, 0.0]), Terms(0.5, tolerance=1e-9)).scores.round(4).tolist()
    [0.6667, 0.3333]
    """
    restart, tolerance = terms.restart, terms.tolerance
    starts = starts.astype(terms.precision, copy=False)
    reach = _reach(walk, terms)
    onward = _onward(walk, terms, starts, reach)
    found = restart * starts + (1 - restart) * _drawn(_forgotten(walk, starts), terms, reach)
    rest = restart * starts - found + onward(found)
    shadow, course, product = rest, rest, _dots(rest, rest)
    late, limit = False, _rounds_enough(restart, tolerance)
    for iterations in range(limit + 1):
        residuals = np.abs(rest).sum(axis=0) / (restart * found.sum(axis=0))
        late = iterations > 0 and terms.late
        if late or residuals.max() <= tolerance:
            break
        image = course - onward(course)
        step = _quotient(product, _dots(shadow, image))
        half = rest - step * image
        turned = half - onward(half)
        twist = _quotient(_dots(turned, half), _dots(turned, turned))
        found = found + step * course + twist * half
        rest = half - twist * turned
        new_product = _dots(shadow, rest)
        course = rest + _quotient(new_product, product) * _quotient(step, twist) * (course - twist * image)
        product = new_product
    solved = bool(residuals.max() <= tolerance)
    if not solved and not late:
        return power(walk, starts, terms)
    found = np.maximum(found, 0)
    return Solved(found / found.sum(axis=0), iterations, residuals, solved)


def _onward(walk: Walk, terms: Terms, like: Floats, reach: Floats | None) -> Callable[[Floats], Floats]:
    """A function that takes a distribution one step on, less what restarts."""
    backward, carried = walk.backward(terms.precision), 1 - terms.restart
    if reach is None:

        def walked(scores: Floats) -> Floats:
            moved = backward @ scores
            moved *= carried
            return moved

        return walked
    # where the pull is weaker, the other edges of a node share the rest
    pull = _tall(np.asarray(terms.pull, terms.precision), like)
    pace = _tall(np.divide(carried, reach, out=np.zeros_like(reach), where=reach > 0), like)
    return lambda scores: (backward @ (scores * pace)) * pull


def _reach(walk: Walk, terms: Terms) -> Floats | None:
    """For every node, the mean pull at the other end of its edges; None if there are no pulls."""
    if terms.pull is None:
        return None
    return np.asarray(walk.forward(terms.precision) @ np.asarray(terms.pull, terms.precision))


def _forgotten(walk: Walk, starts: Floats) -> Floats:
    """Where a walk from the seeds is when it has forgotten them: the background of the parts they lie in."""
    background = walk.background
    if background is None:
        return np.zeros_like(starts)
    seeds, *questions = np.nonzero(starts > 0)
    owed = np.zeros((len(background.leaks), *starts.shape[1:]), starts.dtype)
    np.add.at(owed, (background.parts[seeds], *questions), starts[seeds, *questions] * background.settles[seeds])
    masses = walk.masses("float32" if starts.dtype == np.float32 else "float64")
    return np.asarray(owed[background.parts] * _tall(masses, starts))


def _drawn(forgotten: Floats, terms: Terms, reach: Floats | None) -> Floats:
    """The same under pulls, which is exact where edges run both ways.

    Nothing if some nodes are forbidden, for who knows what can then be reached.
    """
    if reach is None:
        return forgotten
    if not np.all(terms.pull):
        return np.zeros_like(forgotten)
    drawn = forgotten * _tall(np.asarray(terms.pull, terms.precision) * reach, forgotten)
    return np.asarray(drawn * _quotient(forgotten.sum(axis=0), drawn.sum(axis=0)), forgotten.dtype)


def _one_step(walk: Walk, starts: Floats, precision: Precision) -> Floats:
    """Where a walk from the seeds is after one step."""
    seeds, *questions = np.nonzero(starts > 0)
    offsets, positions = slices(walk.indptr, seeds)
    counts = np.diff(offsets)
    shares = walk.shares(precision)[positions] * np.repeat(starts[seeds, *questions], counts)
    moved, targets = np.zeros_like(starts), walk.targets[positions]
    if questions:
        np.add.at(moved, (targets, np.repeat(questions[0], counts)), shares)
    else:
        np.add.at(moved, targets, shares)
    return moved


def _tall(values: npt.NDArray[Any], like: Floats) -> npt.NDArray[Any]:
    """One value per node, in a shape that multiplies `like`."""
    return values if like.ndim == 1 else values[:, None]


def _rounds_enough(restart: float, tolerance: float) -> int:
    """After so many rounds only rounding is left to improve."""
    return 10 if restart == 1 else 10 + math.ceil(math.log(tolerance * restart / 2) / math.log1p(-restart))


def _dots(left: Floats, right: Floats) -> Any:
    """The inner product of each column; a plain number for a vector."""
    return float(np.vdot(left, right)) if left.ndim == 1 else (left * right).sum(axis=0)


def _quotient(above: Any, below: Any) -> Any:
    if np.ndim(below) == 0:
        return above / below if below else 0.0
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
