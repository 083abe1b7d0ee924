"""Search for the parameter values with the highest score, by Optuna's tree-structured Parzen estimator.

J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl (2011): Algorithms for Hyper-Parameter Optimization. NIPS.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopweave.errors import RecipeError
from hopweave.extras import of_extra
from hopweave.tune.search_space import Parameter

Values = Mapping[str, float]
"""Values by the path of the parameter."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Values that were tried, and their score."""

    number: int
    values: Values
    score: float


def search(
    parameters: Sequence[Parameter],
    score: Callable[[Values], float],
    *,
    trials: int,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> list[Trial]:
    """Score the starting values (trial 0) and then `trials` other sets of values; equal seeds give equal trials.

    Values are rounded to four significant digits before they are scored, so the reported values are those that were
    measured. A set that raises `RecipeError` is skipped. `progress` is called with 1 after each trial.

    >>> restart = Parameter("restart", 0.0, 1.0, start=0.9)
    >>> found = search([restart], lambda values: -abs(values["restart"] - 0.25), trials=30)
    >>> abs(best(found).values["restart"] - 0.25) < 0.1
    True
    """
    if trials < 1:
        raise ValueError(f"trials: {trials} is not allowed: it must be at least 1")
    optuna = of_extra("measure", "optuna")
    ranges = {one.path: _distribution(optuna, one) for one in parameters}
    start = {one.path: int(one.start) if one.whole else one.start for one in parameters}
    done = [Trial(0, start, score(start))]
    study = _quiet_study(optuna, seed)
    if all(one.low <= one.start <= one.high for one in parameters):
        study.add_trial(optuna.trial.create_trial(params=start, distributions=ranges, value=done[0].score))
    for number in range(1, trials + 1):
        proposed = study.ask(ranges)
        values = {one.path: _rounded(proposed.params[one.path], one) for one in parameters}
        try:
            done.append(Trial(number, values, score(values)))
            study.tell(proposed, done[-1].score)
        except RecipeError:
            study.tell(proposed, state=optuna.trial.TrialState.PRUNED)
        if progress:
            progress(1)
    return done


def best(trials: Sequence[Trial]) -> Trial:
    """The trial with the highest score; of equal ones the first.

    >>> best([Trial(0, {}, 0.5), Trial(1, {}, 0.5)]).number
    0
    """
    return max(trials, key=lambda trial: (trial.score, -trial.number))


def _distribution(optuna: Any, one: Parameter) -> Any:
    if one.whole:
        return optuna.distributions.IntDistribution(int(one.low), int(one.high))
    return optuna.distributions.FloatDistribution(one.low, one.high)


def _rounded(value: float, one: Parameter) -> float:
    return int(value) if one.whole else min(max(float(f"{value:.4g}"), one.low), one.high)


def _quiet_study(optuna: Any, seed: int) -> Any:
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    finally:
        optuna.logging.set_verbosity(verbosity)
