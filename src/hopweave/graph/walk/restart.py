"""Where a walk restarts, and how often."""

from collections.abc import Mapping
from typing import TypeVar

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


def adaptive_restart(entities: int, *, near: float = 0.5, usual: float = 0.3, far: float = 0.15) -> float:
    """The restart that suits a question: a specific one stays near what it names, a broad one goes far.

    Specific: it names one to three entities. Broad: more than five.

    >>> [adaptive_restart(count) for count in (0, 1, 4, 6)]
    [0.3, 0.5, 0.3, 0.15]
    """
    for name, value in (("near", near), ("usual", usual), ("far", far)):
        if not 0 < value <= 1:
            raise ValueError(f"{name}: {value} is not allowed; it must be above 0 and at most 1")
    if 1 <= entities <= 3:
        return near
    return far if entities > 5 else usual


def _total(name: str, weights: Mapping[Seed, float]) -> float:
    for seed, weight in weights.items():
        if not 0 <= weight < float("inf"):
            raise ValueError(f"{name}[{seed!r}]: weight {weight} is not allowed; it must be 0 or more, and finite")
    return float(sum(weights.values()))
