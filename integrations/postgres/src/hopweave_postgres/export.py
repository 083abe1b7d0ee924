"""The whole graph, node by node and edge by edge: for looking at it, comparing and exporting."""

import json
from collections import Counter, defaultdict

from hopweave.graph_store.backend import BACKWARD, Edge, Node, rarity_of_node
from hopweave_postgres.connections import Connections


def all_nodes(connections: Connections) -> tuple[Node, ...]:
    """The nodes, ordered by id."""
    found = connections.read("SELECT description FROM nodes WHERE (flags & 8) > 0")
    return tuple(sorted((Node(*json.loads(text)) for (text,) in found), key=lambda node: node.id))


def all_edges(connections: Connections, dead_end_share: float) -> list[Edge]:
    """The edges by source, target and type, each of these once, with the weights summed."""
    found = connections.read("SELECT id, description, passages, edge_ends FROM nodes WHERE (flags & 8) > 0")
    ids = {number: json.loads(text)[0] for number, text, _, _ in found}
    rarity = {number: rarity_of_node(passages, ends, dead_end_share) for number, _, passages, ends in found}
    types = list(connections.read("SELECT edge_types FROM state")[0][0])
    sums: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    rows = connections.read("SELECT src, dst, code, weight, copies FROM edges WHERE (code & %s) = 0", [BACKWARD])
    for source, target, code, weight, copies in rows:
        key = ids[source], ids[target], types[code // 4]
        sums[key] += [weight * rarity[source] * rarity[target]] * copies
    labels = _labels(connections, ids, types)
    return [Edge(*key, sum(sorted(sums[key])), labels.get(key, "")) for key in sorted(sums)]


def _labels(connections: Connections, ids: dict[int, str], types: list[str]) -> dict[tuple[str, str, str], str]:
    """How each relation was written most often; of equals the smallest."""
    written: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    query = "SELECT start_node, end_node, type, label FROM stated WHERE label IS NOT NULL AND start_node >= 0"
    for start, end, code, label in connections.read(query):
        written[ids[start], ids[end], types[code]][label] += 1
    return {key: min(labels, key=lambda label: (-labels[label], label)) for key, labels in written.items()}
