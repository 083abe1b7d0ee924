"""Confidence intervals and significance tests for means over queries.

B. Efron, R. J. Tibshirani (1993): An Introduction to the Bootstrap. M. D. Smucker, J. Allan, B. Carterette (2007): A
Comparison of Statistical Significance Tests for Information Retrieval Evaluation. CIKM.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

RESAMPLES = 9_999
_NUMBERS_AT_ONCE = 5_000_000  # limits the memory of resampling to some tens of megabytes


class Interval(NamedTuple):
    """A 95 % confidence interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference between two recipes over the same queries.

    `p_value` is two-sided: the probability of a difference at least as large if the recipes were equally good.
    """

    mean: float
    interval: Interval | None
    p_value: float

    @property
    def interval_text(self) -> str:
        """The interval as the cell of a table."""
        return f"{self.interval.low:+.3f} to {self.interval.high:+.3f}" if self.interval else "–"

    def as_dict(self) -> dict[str, Any]:
        """What is known of the mean, as plain JSON types."""
        low, high = self.interval or (None, None)
        return {"low": low, "high": high, "p_value": self.p_value, "within_noise": self.within_noise}

    @property
    def within_noise(self) -> bool:
        """Return whether the difference is not significant at the 5 % level."""
        return self.p_value > 0.05


def bootstrap_interval(values: Sequence[float], *, seed: int = 0) -> Interval | None:
    """The 95 % percentile bootstrap interval of the mean; None for fewer than two values.

    >>> bootstrap_interval([0.0, 1.0, 1.0, 1.0])
    Interval(low=0.25, high=1.0)
    """
    if len(values) < 2:
        return None
    from scipy.stats import bootstrap

    drawn = bootstrap(
        (np.asarray(values, float),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=_batch(values),
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    return Interval(float(drawn.confidence_interval.low), float(drawn.confidence_interval.high))


def paired_difference(first: Sequence[float], second: Sequence[float], *, seed: int = 0) -> Difference:
    """The mean of `second` minus that of `first`, with a paired permutation test and a bootstrap interval.

    Under the null hypothesis the two values of each query can be exchanged; the p-value is the share of exchanges
    that give a mean difference at least as large. With few differing queries, all exchanges are enumerated.

    >>> paired_difference([0.0, 0.5, 0.5, 0.0], [0.5, 1.0, 1.0, 0.5])  # p = 2 / 2⁴
    Difference(mean=0.5, interval=Interval(low=0.5, high=0.5), p_value=0.125)
    """
    if len(first) != len(second):
        raise ValueError(f"both need a value for every query, but there are {len(first)} and {len(second)}")
    gains = [after - before for before, after in zip(first, second, strict=True)]
    moved = np.array([gain for gain in gains if gain])  # exchanging equal values changes nothing
    if len(moved) < 2:
        return Difference(fmean(gains or [0.0]), bootstrap_interval(gains, seed=seed), 1.0)
    from scipy.stats import permutation_test

    test = permutation_test(
        (moved, np.zeros(len(moved))),
        _mean_gain,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=_batch(gains),
        rng=np.random.default_rng(seed),
    )
    return Difference(fmean(gains), bootstrap_interval(gains, seed=seed), float(test.pvalue))


def _mean_gain(
    second: npt.NDArray[np.float64], first: npt.NDArray[np.float64], axis: int = -1
) -> npt.NDArray[np.float64]:
    return np.asarray(np.mean(second - first, axis=axis))


def _batch(values: Sequence[float]) -> int:
    return max(1, min(RESAMPLES, _NUMBERS_AT_ONCE // len(values)))
