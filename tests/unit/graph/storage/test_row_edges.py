"""Weights of edges are the same whether they are computed for a few nodes or were kept for all."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from hopweave.concurrency.once import LRUCache
from hopweave.graph.build.changes import apply
from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.graph.storage import row_edges
from hopweave.graph.storage.row_edges import WeighedEdges, WeightedRows
from hopweave.graph.storage.table_graph import TableGraph

FORWARD, BACKWARD = (1.0, 0.5, 0.25), (0.75, 0.5, 2.0)


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> WeightedRows:
    """Rows that count as those of a large graph."""
    monkeypatch.setattr(row_edges, "_AT_ONCE", 0)
    return of_passages()


def of_passages() -> WeightedRows:
    return weighted(graph_of_passages())


def weighted(graph: TableGraph, *, survives: bool = True) -> WeightedRows:
    kept = graph.tables.weighed if survives else LRUCache[tuple[float, ...], WeighedEdges](1)
    return WeightedRows(graph._rows, graph._rarity, FORWARD, BACKWARD, kept)


def passage(number: int, *names: str) -> Contribution:
    mentions = (Mention("Skua", weight=number + 0.5), Mention(f"Buoy {number}"), *map(Mention, names))
    return Contribution(f"p{number}", nodes=(Node.passage(f"p{number}"),), mentions=mentions)


def graph_of_passages() -> TableGraph:
    """Mentions of names in several passages, and parallel edges and a self loop between two of the names."""
    skua, harris = Node.entity("Skua"), Node.entity("Harris")
    stated = (Edge(skua.id, harris.id), Edge(skua.id, harris.id, weight=3.0), Edge(skua.id, skua.id))
    passages = [passage(number, "Harris") for number in range(4)]
    return resolve([*passages, Contribution("s", nodes=(skua, harris), edges=stated)]).graph()


def test_keeping_all_weights_changes_no_bit(rows: WeightedRows) -> None:
    """A node is asked for alone and among others, before and after all edges are weighed."""
    everything = np.arange(len(rows._rows.lengths))
    asked = [*(np.array([node]) for node in everything), everything[::2]]
    before = [rows.edges(nodes) for nodes in asked]
    rows.edges(everything)
    assert rows._all.get() is not None
    for nodes, old in zip(asked, before, strict=True):
        new = rows.edges(nodes)
        assert old.counts.tolist() == new.counts.tolist()
        assert old.targets.tolist() == new.targets.tolist()
        assert old.weights.tobytes() == new.weights.tobytes()
        assert old.distinct == new.distinct


def test_few_questions_weigh_few_edges(rows: WeightedRows) -> None:
    """What is asked of a graph once does not cost the size of the graph."""
    rows.edges(np.array([0]))
    assert rows._all.get() is None


def test_the_first_question_to_a_small_graph_weighs_all_edges() -> None:
    rows = of_passages()
    rows.edges(np.array([0]))
    assert rows._all.get() is not None


def test_of_threads_that_ask_together_one_weighs_all_edges_while_the_others_get_theirs(
    rows: WeightedRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, everything = 16, np.arange(len(rows._rows.lengths))
    together, made, served = threading.Barrier(threads), [], threading.Semaphore(0)
    weigh_all = WeightedRows._weigh_all

    def slowly(self: WeightedRows) -> object:
        made.append(threading.get_ident())
        assert all(served.acquire(timeout=10) for _ in range(threads - 1)), "the others wait"
        return weigh_all(self)

    def ask(_: int) -> bytes:
        together.wait()
        found = rows.edges(everything)
        served.release()
        return found.weights.tobytes()

    monkeypatch.setattr(WeightedRows, "_weigh_all", slowly)
    with ThreadPoolExecutor(threads) as pool:
        answers = set(pool.map(ask, range(threads)))
    assert len(made) == 1
    assert answers == {rows.edges(everything).weights.tobytes()}


def test_a_failure_is_not_kept(rows: WeightedRows, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: WeightedRows) -> object:
        raise MemoryError

    everything = np.arange(len(rows._rows.lengths))
    rows.edges(everything[:1])
    with monkeypatch.context() as patch:
        patch.setattr(WeightedRows, "_weigh_all", fail)
        with pytest.raises(MemoryError):
            rows.edges(everything)
    rows.edges(everything)
    assert rows._all.get() is not None


@pytest.mark.parametrize(
    ("changed", "gone"),
    [([passage(9)], []), ([passage(1, "Falk", "Harris")], []), ([], ["p2"]), ([], ["s"])],
)
def test_what_was_weighed_survives_a_write(
    changed: list[Contribution], gone: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later versions weigh what has changed, and earlier ones still see what they saw."""
    monkeypatch.setattr(row_edges, "_MAX_STALE", 1.0)
    before = graph_of_passages()
    first = weighted(before)
    first.edges(np.array([0]))
    apply(before.tables, changed, gone)
    after = TableGraph(before.tables, 1)
    second, anew = weighted(after), weighted(after, survives=False)
    kept = second._all.get()
    assert kept is not None
    assert not kept[1].all()
    for nodes in (np.arange(after.size), *np.arange(after.size)[:, None]):
        mixed, fresh = second.edges(nodes), anew._weigh(nodes)[0]
        assert [part.tolist() for part in mixed[:4]] == [part.tolist() for part in fresh[:4]]
    old = np.arange(before.size)
    assert first.edges(old).weights.tobytes() == first._weigh(old)[0].weights.tobytes()


def test_after_many_changes_all_edges_are_weighed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_edges, "_AT_ONCE", 0)
    graph = graph_of_passages()
    weighted(graph).edges(np.arange(graph.size))
    apply(graph.tables, [passage(number, "Falk") for number in range(20, 60)])
    assert weighted(TableGraph(graph.tables, 1))._all.get() is None
