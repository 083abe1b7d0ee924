"""Weights of edges are the same whether they are computed for a few nodes or were kept for all."""

import numpy as np
import pytest

from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.graph.storage import weighted_rows
from hopweave.graph.storage.weighted_rows import WeightedRows

FORWARD, BACKWARD = (1.0, 0.5, 0.25), (0.75, 0.5, 2.0)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> WeightedRows:
    """Rows that count as those of a large graph."""
    monkeypatch.setattr(weighted_rows, "_AT_ONCE", 0)
    return of_passages()


def of_passages() -> WeightedRows:
    """Mentions of names in several passages, and parallel edges and a self loop between two of the names."""
    passages = [
        Contribution(
            f"p{number}",
            nodes=(Node.passage(f"p{number}"),),
            mentions=(Mention("Skua", weight=number + 0.5), Mention("Harris"), Mention(f"Buoy {number}")),
        )
        for number in range(4)
    ]
    skua, harris = Node.entity("Skua"), Node.entity("Harris")
    stated = (Edge(skua.id, harris.id), Edge(skua.id, harris.id, weight=3.0), Edge(skua.id, skua.id))
    graph = resolve([*passages, Contribution("s", nodes=(skua, harris), edges=stated)]).graph()
    return WeightedRows(graph._rows, graph._rarity, FORWARD, BACKWARD)


def test_keeping_all_weights_changes_no_bit(rows: WeightedRows) -> None:
    """A node is asked for alone and among others, before and after all edges are weighed."""
    everything = np.arange(len(rows._rows.lengths))
    asked = [*(np.array([node]) for node in everything), everything[::2]]
    before = [rows.edges(nodes) for nodes in asked]
    rows.edges(everything)
    assert rows._weighed is not None
    for nodes, old in zip(asked, before, strict=True):
        new = rows.edges(nodes)
        assert old.counts.tolist() == new.counts.tolist()
        assert old.targets.tolist() == new.targets.tolist()
        assert old.weights.tobytes() == new.weights.tobytes()
        assert old.distinct == new.distinct


def test_few_questions_weigh_few_edges(rows: WeightedRows) -> None:
    """What is asked of a graph once does not cost the size of the graph."""
    rows.edges(np.array([0]))
    assert rows._weighed is None


def test_the_first_question_to_a_small_graph_weighs_all_edges() -> None:
    rows = of_passages()
    rows.edges(np.array([0]))
    assert rows._weighed is not None
