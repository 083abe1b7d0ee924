"""The options that every PageRank solver takes."""

import time
from dataclasses import dataclass

from hopweave.graph.port import NodeFlags, NodeValues
from hopweave.graph.walk.transition_matrix import Precision


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """Options of a PageRank solver.

    `restart` is the probability to jump back to the seeds, `tolerance` the largest sum of errors of all scores,
    `node_bias` one factor per node for the weight of every edge to it (0 forbids the node), and `deadline` the
    `time.perf_counter` at which to stop.

    >>> SolverOptions(restart=0.15).precision, SolverOptions(restart=0.15, tolerance=1e-9).precision
    ('float32', 'float64')
    """

    restart: float
    tolerance: float = 0.05
    node_bias: NodeFlags | NodeValues | None = None
    deadline: float | None = None

    @property
    def precision(self) -> Precision:
        """float32, which is half the size and twice as fast, unless rounding errors come near the tolerance."""
        return "float32" if self.tolerance * self.restart >= 1e-4 else "float64"

    @property
    def past_deadline(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() > self.deadline
