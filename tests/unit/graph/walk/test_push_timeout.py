"""A push over a graph that stops answering gives the best so far."""

import numpy as np
import pytest

from hopweave.errors import GraphTimeout
from hopweave.graph.storage.csr import Graph
from hopweave.graph.walk.push import push
from hopweave.graph.walk.solver_options import SolverOptions
from hopweave.graph.walk.transition_rows import transition_rows


class SlowRows:
    """Rows that answer a few times and then time out."""

    read_ahead = 0.0

    def __init__(self, rows, answers):
        self._rows, self._answers = rows, answers
        self.size, self.workspaces, self.edge_counts = rows.size, rows.workspaces, rows.edge_counts

    def transitions(self, nodes):
        self._answers -= 1
        if self._answers < 0:
            raise GraphTimeout("too slow")
        return self._rows.transitions(nodes)


def test_best_so_far():
    options = SolverOptions(restart=0.15, tolerance=1e-3)
    path = Graph.from_arrays(np.arange(5), np.arange(1, 6))
    rows = transition_rows(path, options)
    found = push(SlowRows(rows, 2), np.array([0]), np.array([1.0]), options)
    assert (found.rounds, found.finished) == (2, False)
    assert found.nodes.tolist() == [0, 1, 2]
    assert found.scores.sum() == pytest.approx(1 - found.residual * (1 - 0.15), abs=0.2)
    with pytest.raises(GraphTimeout):
        push(SlowRows(rows, 0), np.array([0]), np.array([1.0]), options)
