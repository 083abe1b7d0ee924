"""The terms every PageRank engine works to."""

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.graph.port import Floats
from hopweave.graph.walk import Precision

Mask = npt.NDArray[np.bool_]
"""One flag per node."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How a walk goes and when it has gone far enough.

    `restart` is the probability to go back to the seeds, `tolerance` how much the scores may be off in total, `pull`
    how strongly the walk is drawn to each node (0 forbids it), and `deadline` the `time.perf_counter` at which to stop.

    >>> Terms(restart=0.15).precision, Terms(restart=0.15, tolerance=1e-9).precision
    ('float32', 'float64')
    """

    restart: float
    tolerance: float = 0.05
    pull: Mask | Floats | None = None
    deadline: float | None = None

    @property
    def precision(self) -> Precision:
        """Half the size and twice as fast, as long as rounding stays far below the tolerance."""
        return "float32" if self.tolerance * self.restart >= 1e-4 else "float64"

    @property
    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() > self.deadline
