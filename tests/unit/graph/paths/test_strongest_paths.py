import numpy as np
import pytest

from hopweave.graph.model import Edge, Node
from hopweave.graph.paths.path import strongest_paths
from hopweave.testing.graphs import graph_from_arrays, graph_from_edges


def graph_of(*rows):
    sources, targets, weights = zip(*((*row, 1.0)[:3] for row in rows), strict=True)
    return graph_from_arrays(np.array(sources), np.array(targets), np.array(weights))


def route(path):
    return [int(node.id) for node in path.nodes]


def strongest_path(graph, seeds, target, **options):
    return strongest_paths(graph, seeds, [target], **options).get(target)


def test_nothing_wanted_or_nowhere_to_start():
    graph = graph_of((0, 1), (2, 3))
    assert strongest_paths(graph, {0: 1.0}, []) == {}
    assert strongest_paths(graph, {}, [1]) == {}
    assert strongest_paths(graph, {0: 0.0}, [1]) == {}
    assert strongest_path(graph, {0: 1.0}, 3) is None


def test_a_seed_is_its_own_path():
    path = strongest_path(graph_of((0, 1)), {0: 2.0}, 0)
    assert (route(path), path.edge_types, path.flow, path.words) == ([0], (), 1.0, "0")


def test_flow_by_hand():
    # 0 -3- 1 -1- 2, and 0 -1- 2: direct 0.8 * 1/4 = 0.2; by way of 1: 0.8 * 3/4 * 0.8 * 1/4 = 0.12
    path = strongest_path(graph_of((0, 1, 3.0), (1, 2, 1.0), (0, 2, 1.0)), {0: 1.0}, 2)
    assert (route(path), path.flow) == ([0, 2], pytest.approx(0.2))
    # with more weight on 1 - 2 the detour is stronger: 0.8 * 3/4 * 0.8 * 9/12 = 0.36
    path = strongest_path(graph_of((0, 1, 3.0), (1, 2, 9.0), (0, 2, 1.0)), {0: 1.0}, 2)
    assert (route(path), path.flow) == ([0, 1, 2], pytest.approx(0.36))


def test_the_heavier_seed_and_the_shorter_route():
    graph = graph_of((0, 2), (1, 2))
    assert route(strongest_path(graph, {0: 1.0, 1: 2.0}, 2)) == [1, 2]
    assert route(strongest_path(graph, {0: 1.0, 1: 1.0}, 2)) == [0, 2], "equal: the smaller number"


def test_no_further_than_max_hops():
    chain = graph_of(*((index, index + 1) for index in range(6)))
    assert set(strongest_paths(chain, {0: 1.0}, range(7), max_hops=3)) == {0, 1, 2, 3}
    assert route(strongest_path(chain, {0: 1.0}, 4)) == [0, 1, 2, 3, 4]


def test_agrees_with_trying_every_path():
    rng = np.random.default_rng(8)
    size = 9
    for _ in range(20):
        weights = np.triu(rng.uniform(0.1, 3, (size, size)) * (rng.random((size, size)) < 0.3), 1)
        sources, targets = np.nonzero(weights)
        graph = graph_from_arrays(sources, targets, weights[sources, targets], size=size)
        both = weights + weights.T
        shares = both / np.where(both.sum(axis=1, keepdims=True) > 0, both.sum(axis=1, keepdims=True), 1)
        best = np.zeros(size)
        best[0], reach = 1.0, np.eye(size)[0]
        for _ in range(4):
            reach = (reach[:, None] * shares * 0.8).max(axis=0)
            best = np.maximum(best, reach)
        found = strongest_paths(graph, {0: 1.0}, range(size))
        assert {target: path.flow for target, path in found.items()} == pytest.approx(
            {target: flow for target, flow in enumerate(best.tolist()) if flow > 0}
        )
        for target, path in found.items():
            steps = [shares[a, b] * 0.8 for a, b in zip(route(path)[:-1], route(path)[1:], strict=True)]
            assert np.prod(steps) == pytest.approx(path.flow)
            assert route(path)[-1] == target


def test_a_graph_that_is_only_a_port_gives_the_same(plain_port):
    nodes = [Node.entity(name) for name in "abcd"]
    edges = [
        Edge("entity:a", "entity:b", "enables", 1.0),
        Edge("entity:a", "entity:b", "requires", 1.0),
        Edge("entity:c", "entity:b", "part_of", 3.0),
        Edge("entity:d", "entity:c", "part_of", 1.0),
    ]
    one = strongest_paths(graph_from_edges(nodes, edges), {0: 1.0}, range(4))
    other = strongest_paths(plain_port(nodes, edges), {0: 1.0}, range(4))
    assert {node: path.words for node, path in one.items()} == {node: path.words for node, path in other.items()}
    assert [path.flow for path in one.values()] == pytest.approx([path.flow for path in other.values()])
    assert one[3].words == "a —enables→ b ←part_of— c ←part_of— d"
