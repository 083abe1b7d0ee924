"""What a question brings to a walk: the relevance of documents, where it restarts, and the bias of nodes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Floats, Indices, NodeFlags
from hopweave.hit import Hit
from hopweave.knowledge import Ranking
from hopweave.scores import normalised, trust

Strengths = Mapping[str, float]
"""How relevant documents are, in [0, 1], by id; those that are not listed count 0."""


@dataclass(frozen=True, slots=True)
class Relevance:
    """How relevant documents are to the whole question, and to its words outside the names that are linked."""

    to_question: Strengths
    beyond_names: Strengths
    other_words: str


class WeightedStrengths(NamedTuple):
    """The scores of a ranking normalised to [0, 1], and how much it can be trusted."""

    trust: float
    strengths: Strengths


def strengths_of(hits: Sequence[Hit]) -> WeightedStrengths:
    """The strengths of a ranking; 1 / rank if there are no scores."""
    scored = all(hit.score is not None for hit in hits)
    ranking = [(hit.id, (hit.score or 0.0) if scored else 1 / rank) for rank, hit in enumerate(hits, start=1)]
    receipts = hits[0].receipts if hits else ()
    return normalised_strengths(ranking, receipts[-1].details if receipts else {})


def normalised_strengths(ranking: Ranking, said: Mapping[str, Any]) -> WeightedStrengths:
    """The strengths of a ranking of ids; `said` is what the receipts say of all of it."""
    scores = [score for _, score in ranking]
    strengths = zip((key for key, _ in ranking), normalised(scores), strict=True)
    return WeightedStrengths(trust(scores, said.get("above_chance")), dict(strengths))


def weighted_mean(rankings: Iterable[WeightedStrengths]) -> dict[str, float]:
    """The mean strength of each document, each ranking weighted by the trust in it; all alike if there is none."""
    rankings = list(rankings)
    weights = [one.trust for one in rankings]
    if not any(weights):
        weights = [1.0] * len(rankings)
    means: dict[str, float] = {}
    total = sum(weights)
    for weight, one in zip(weights, rankings, strict=True):
        for key, strength in one.strengths.items():
            means[key] = means.get(key, 0.0) + strength * weight / total
    return means


Seed = TypeVar("Seed", int, str)


def restart_vector(
    entities: Mapping[Seed, float], passages: Mapping[Seed, float], passage_mass: float
) -> dict[Seed, float]:
    """Seeds of two sorts in one: weights that sum to 1, of which the passages have the share `passage_mass`.

    Each sort is divided by its own sum first, so the share means the same for ten passages and for ten million. If
    there is only one sort, it has everything.

    >>> restart_vector({"skua": 3.0, "harris": 1.0}, {"timetable": 9.0}, passage_mass=0.5)
    {'skua': 0.375, 'harris': 0.125, 'timetable': 0.5}
    >>> restart_vector({}, {"timetable": 9.0}, passage_mass=0.2)
    {'timetable': 1.0}
    """
    if not 0 <= passage_mass <= 1:
        raise ValueError(f"passage_mass: {passage_mass} is not allowed; it must lie between 0 and 1")
    totals = _total("entities", entities), _total("passages", passages)
    share = passage_mass if all(totals) else float(totals[1] > 0)
    seeds: dict[Seed, float] = {}
    for weights, total, mass in ((entities, totals[0], 1 - share), (passages, totals[1], share)):
        for seed, weight in weights.items():
            if weight > 0 and mass > 0:
                seeds[seed] = seeds.get(seed, 0.0) + mass * (weight / total)
    return seeds


def adaptive_restart(entities: int) -> float:
    """The restart that suits a question: a specific one stays near what it names, a broad one goes far.

    Specific: it names one to three entities. Broad: more than five.

    >>> [adaptive_restart(count) for count in (0, 1, 4, 6)]
    [0.3, 0.5, 0.3, 0.15]
    """
    if 1 <= entities <= 3:
        return 0.5
    return 0.15 if entities > 5 else 0.3


def _total(name: str, weights: Mapping[Seed, float]) -> float:
    for seed, weight in weights.items():
        if not 0 <= weight < float("inf"):
            raise ValueError(f"{name}[{seed!r}]: weight {weight} is not allowed; it must be 0 or more, and finite")
    return float(sum(weights.values()))


Boosts = Callable[[], tuple[Indices, Floats]]
"""Distinct nodes and what multiplies the bias of each, as far as a graph has found them when it is called."""


@dataclass(frozen=True, slots=True)
class FixedBias:
    """The bias that does not depend on the question: of passages, and of entities that a passage is about.

    >>> FixedBias(np.array([True, False, False]), np.array([False, True, False]), 0.25, 2.0)[np.array([0, 1, 2])]
    array([0.25, 2.  , 1.  ], dtype=float32)
    """

    passages: NodeFlags
    topics: NodeFlags
    passage_bias: float
    topic_boost: float

    def __getitem__(self, nodes: Indices) -> npt.NDArray[np.float32]:
        bias = np.where(self.passages[nodes], self.passage_bias, 1.0).astype(np.float32)
        bias[self.topics[nodes]] *= self.topic_boost
        return bias


class SparseBias:
    """A fixed bias that some nodes replace and others multiply.

    The function that returns the multipliers is called each time, because a graph may find more of them while it is
    read.

    >>> flags = np.zeros(3, np.bool_)
    >>> fixed = FixedBias(flags, flags, 0.25, 2.0)
    >>> boost = np.array([0]), np.array([3.0])
    >>> SparseBias(fixed, (np.array([2]), np.array([0.5])), lambda: boost)[np.array([2, 1, 0])]
    array([0.5, 1. , 3. ], dtype=float32)
    """

    def __init__(self, fixed: FixedBias, replaced: tuple[Indices, Floats], multiplied: Boosts) -> None:
        """Numbers of distinct nodes, and what replaces the bias of each or multiplies it."""
        self._fixed, self._replaced, self._multiplied = fixed, in_order(*replaced), multiplied

    def __getitem__(self, nodes: Indices) -> npt.NDArray[np.float32]:
        bias = self._fixed[nodes]
        places, values = values_of(self._replaced, nodes)
        bias[places] = values
        places, values = values_of(in_order(*self._multiplied()), nodes)
        bias[places] *= values
        return bias


def in_order(nodes: Indices, values: Floats) -> tuple[Indices, Floats]:
    """Nodes by number, and their values."""
    order = np.argsort(nodes, kind="stable")  # takes no time where they are in order, as in a file
    return nodes[order], values[order]


def values_of(pairs: tuple[Indices, Floats], nodes: Indices) -> tuple[Indices, Floats]:
    """The places of nodes that have a value, and the values; the pairs of nodes and values are in order."""
    known, values = pairs
    if not len(known):
        return np.empty(0, np.int64), values
    positions = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
    places = np.flatnonzero(known[positions] == nodes)
    return places, values[positions[places]]
