"""A push over a graph that stops answering gives the best so far."""

import numpy as np
import pytest

from hopweave.errors import GraphTimeout
from hopweave.graph.walk.personalised_pagerank import push
from hopweave.graph.walk.transitions import WalkOptions, transition_rows
from hopweave.testing.graphs import graph_from_arrays


class SlowRows:
    """Rows that answer a few times and then time out."""

    read_ahead = 0.0

    def __init__(self, rows, answers):
        self._rows, self._answers = rows, answers
        self.size, self.workspaces, self.edge_counts = rows.size, rows.workspaces, rows.edge_counts

        self._known = set()

    def is_read(self, nodes):
        return np.array([node in self._known for node in nodes.tolist()], bool)

    def transitions(self, nodes):
        if not self._known.issuperset(nodes.tolist()):
            self._answers -= 1
            if self._answers < 0:
                raise GraphTimeout("too slow")
            self._known.update(nodes.tolist())
        return self._rows.transitions(nodes)


def test_best_so_far():
    options = WalkOptions(restart=0.15, tolerance=1e-3)
    path = graph_from_arrays(np.arange(5), np.arange(1, 6))
    rows = transition_rows(path, options)
    found = push(SlowRows(rows, 2), np.array([0]), np.array([1.0]), options)
    assert (found.rounds, found.finished) == (3, False)  # in the third, what is known is passed on once more
    assert found.nodes.tolist() == [0, 1, 2]
    exact = push(rows, np.array([0]), np.array([1.0]), WalkOptions(restart=0.15, tolerance=1e-6)).scores
    assert 0 < np.abs(exact - np.append(found.scores, [0, 0, 0])).sum() <= 2 * found.residual


def test_seeds_alone():
    options = WalkOptions(restart=0.15, tolerance=1e-3)
    rows = transition_rows(graph_from_arrays(np.arange(5), np.arange(1, 6)), options)
    found = push(SlowRows(rows, 0), np.array([0, 3]), np.array([1.0, 3.0]), options)
    assert (found.rounds, found.finished, found.residual) == (0, False, 1.0)
    assert (found.nodes.tolist(), found.scores.tolist()) == ([0, 3], pytest.approx([0.15 * 0.25, 0.15 * 0.75]))
