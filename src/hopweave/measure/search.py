"""Looking for the numbers that score best, with Optuna's tree-structured Parzen estimator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopweave.errors import HopweaveError, RecipeError
from hopweave.measure.space import Parameter

Values = Mapping[str, float]
"""Numbers by the path of the parameter."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Numbers that were tried, and how they scored."""

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
    """Try so many sets of numbers after the ones there are now, which are trial 0. Equal seeds try the same.

    Numbers are rounded to four digits before they are tried, so what is written down is what was measured. A set that
    raises `RecipeError` is passed over. `progress` is called with 1 after each trial.

    >>> restart = Parameter("restart", 0.0, 1.0, start=0.9)
    >>> found = search([restart], lambda values: -abs(values["restart"] - 0.25), trials=30)
    >>> abs(best(found).values["restart"] - 0.25) < 0.1
    True
    """
    if trials < 1:
        raise ValueError(f"trials: {trials} is not allowed: it must be at least 1")
    optuna = _library()
    ranges = {one.path: _distribution(optuna, one) for one in parameters}
    start = {one.path: int(one.start) if one.whole else one.start for one in parameters}
    done = [Trial(0, start, score(start))]
    study = _quiet_study(optuna, seed)
    if all(one.low <= one.start <= one.high for one in parameters):
        study.add_trial(optuna.trial.create_trial(params=start, distributions=ranges, value=done[0].score))
    for number in range(1, trials + 1):
        asked = study.ask(ranges)
        values = {one.path: _rounded(asked.params[one.path], one) for one in parameters}
        try:
            done.append(Trial(number, values, score(values)))
            study.tell(asked, done[-1].score)
        except RecipeError:
            study.tell(asked, state=optuna.trial.TrialState.PRUNED)
        if progress:
            progress(1)
    return done


def best(trials: Sequence[Trial]) -> Trial:
    """The trial with the highest score; of equal ones the first, so that nothing changes for nothing.

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
    said = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    finally:
        optuna.logging.set_verbosity(said)


def _library() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise HopweaveError("optuna is not installed; run: pip install 'hopweave[measure]'") from error
    return optuna
