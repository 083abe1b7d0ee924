"""A registry that tests may add to, and a graph that is nothing but a port, as one in a database would be."""

import numpy as np
import pytest

from hopweave import component
from hopweave.graph.port import Neighbours
from hopweave.language.words import word_key
from hopweave.recipe import Recipe


@pytest.fixture
def registry():
    """Whatever a test registers is forgotten afterwards."""
    before = {role: dict(kinds) for role, kinds in component._ROLES.items()}
    yield
    for role, kinds in before.items():
        component._ROLES[role].clear()
        component._ROLES[role].update(kinds)
    component.rebuild()
    Recipe.model_rebuild(force=True)


class PlainPort:
    """Plain Python behind the port: lists of edges, one call at a time, no arrays, exact names only."""

    def __init__(self, nodes, edges, version=0):
        self._nodes = sorted(nodes, key=lambda node: node.id)
        self._numbers = {node.id: number for number, node in enumerate(self._nodes)}
        self.edge_types = sorted({edge.type for edge in edges})
        self.version = version
        self.calls = 0
        self._cache = {}
        self._out = {number: [] for number in range(len(self._nodes))}
        self._in = {number: [] for number in range(len(self._nodes))}
        for edge in edges:
            source, target = self._numbers[edge.source], self._numbers[edge.target]
            self._out[source].append((target, edge.weight, self.edge_types.index(edge.type)))
            self._in[target].append((source, edge.weight, self.edge_types.index(edge.type)))

    @property
    def size(self):
        return len(self._nodes)

    def _edges(self, node, direction):
        found = []
        if direction in ("out", "both"):
            found += self._out[node]
        if direction in ("in", "both"):
            found += [edge for edge in self._in[node] if direction == "in" or edge[0] != node]
        return sorted(found, key=lambda edge: (edge[0], edge[2]))

    def neighbours(self, nodes, direction="out"):
        self.calls += 1
        rows = [self._edges(int(node), direction) for node in nodes]
        flat = [edge for row in rows for edge in row]
        targets = np.array([target for target, _, _ in flat], np.int64)
        return Neighbours(
            np.cumsum([0, *(len(row) for row in rows)]),
            targets,
            np.array([weight for _, weight, _ in flat], np.float64),
            np.array([code for _, _, code in flat], np.int64),
            self._degrees(targets, direction),
        )

    def _degrees(self, nodes, direction):
        return np.array([sum(weight for _, weight, _ in self._edges(int(node), direction)) for node in nodes], float)

    def find(self, ids):
        return {id_: self._numbers[id_] for id_ in ids if id_ in self._numbers}

    def lookup(self, names):
        wanted = set(names)
        found = {}
        for number, node in enumerate(self._nodes):
            name = word_key(node.name)
            if name in wanted:
                found[name] = (*found.get(name, ()), number)
        return found

    def nodes(self, indices):
        return [self._nodes[int(index)] for index in indices]

    def nearest_names(self, spans, min_similarity, shown=None):
        return [None] * len(spans)

    truncated = False

    def topic_share(self):
        return 1.0

    def statements(self):
        return None

    def nodes_of_kind(self, kind):
        return np.array([node.kind == kind for node in self._nodes], np.bool_)

    def targets_of_type(self, edge_type):
        types = [self.edge_types[code] for edges in self._out.values() for _, _, code in edges]
        targets = [target for edges in self._out.values() for target, _, _ in edges]
        found = {target for target, name in zip(targets, types, strict=True) if name == edge_type}
        return np.array([number in found for number in range(self.size)], np.bool_)

    def expect_words(self, words):
        return None

    def cooccurring(self, words):
        return np.empty(0, np.int64), np.empty(0)

    def stationary_distribution(self, direction="out"):
        return None

    def edge_rows(self):
        return None

    def adjacency(self, direction):
        return None

    def cached(self, key, make):
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]


@pytest.fixture
def plain_port():
    """The class itself: `plain_port(nodes, edges)`."""
    return PlainPort
