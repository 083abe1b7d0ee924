"""From what each document contributes to the graph they make together.

A contribution is what one document says by itself. Here the whole corpus has its say: which names are entities,
which texts mention what others are about, how rare each name is, and where references lead. The outcome depends on
the contributions alone, never on the order or history in which they came.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hopweave.graph.agreement import Agreed, Agreement, agree, goes_by_name
from hopweave.graph.company import Company
from hopweave.graph.csr import Graph
from hopweave.graph.model import Contribution, Edge, Node, passage_id
from hopweave.graph.phrases import Numbers
from hopweave.graph.readings import Readings
from hopweave.graph.references import follow_references

Floats = npt.NDArray[np.float64]
EdgeKey = tuple[str, str, str]
"""Source, target and type of an edge."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The graph of a set of contributions: nodes ordered by id, and edges as arrays of node numbers.

    Edges are ordered by source, target and type, each of these once. `labels` tells how relations were written,
    `company` which words stand beside the names of nodes.
    """

    nodes: tuple[Node, ...]
    sources: Numbers
    targets: Numbers
    weights: Floats
    types: Numbers
    edge_types: tuple[str, ...]
    labels: Mapping[EdgeKey, str]
    company: Company

    def edges(self) -> list[Edge]:
        """The edges one by one."""
        ids = [node.id for node in self.nodes]
        found = []
        for source, target, code, weight in zip(
            self.sources.tolist(), self.targets.tolist(), self.types.tolist(), self.weights.tolist(), strict=True
        ):
            key = (ids[source], ids[target], self.edge_types[code])
            found.append(Edge(*key, weight, self.labels.get(key, "")))
        return found

    def plus(self, edges: Iterable[Edge]) -> "Resolved":
        """This graph with further edges between its nodes, such as synonyms; edges to other nodes are left out.

        >>> plain = resolve([Contribution("d", (Node.entity("ferry"), Node.entity("ship")))])
        >>> len(plain.plus([Edge("entity:ferry", "entity:ship", "similar_to", 0.9)]).edges()), len(plain.edges())
        (1, 0)
        """
        numbers = {node.id: number for number, node in enumerate(self.nodes)}
        further = [edge for edge in edges if edge.source in numbers and edge.target in numbers]
        edge_types = tuple(sorted({edge.type for edge in further}.union(self.edge_types)))
        codes = {name: code for code, name in enumerate(edge_types)}
        old_codes = np.array([codes[name] for name in self.edge_types], dtype=np.int64)
        columns = _joined((self.sources, self.targets, old_codes[self.types], self.weights), further, numbers, codes)
        return Resolved(self.nodes, *columns, edge_types, {**_labels(further), **self.labels}, self.company)

    def graph(self, version: int = 0) -> Graph:
        """The graph that algorithms walk on."""
        graph = Graph.from_arrays(
            self.sources,
            self.targets,
            self.weights,
            types=self.types,
            edge_types=self.edge_types,
            nodes=self.nodes,
            version=version,
        )
        graph.cached("company", lambda: self.company)
        return graph


def resolve(
    contributions: Iterable[Contribution], agreement: Agreement | None = None, readings: Readings | None = None
) -> Resolved:
    """The graph that these contributions make together. With the readings of last time, only new ones are read.

    >>> from hopweave.document import Document
    >>> from hopweave.graph.build.mentions import MentionsBuilder
    >>> build = MentionsBuilder().contribute
    >>> ship = build(Document("ship", "MV Skua is a ferry to Harris.", {"title": "MV Skua"}))
    >>> isle = build(Document("isle", "Harris is an island. The MV Skua calls there.", {"title": "Harris"}))
    >>> for edge in resolve([ship, isle]).edges():
    ...     f"{edge.source} {edge.type} {edge.target}"
    'passage:isle about entity:harris'
    'passage:isle mentions entity:mv skua'
    'passage:ship mentions entity:harris'
    'passage:ship about entity:mv skua'
    """
    ordered = sorted(contributions, key=lambda contribution: contribution.document_id)
    readings = readings or Readings()
    agreed = agree(ordered, agreement or Agreement(), readings)
    nodes, joined, thing_ids = _nodes(ordered, agreed, readings)
    edges, addresses = follow_references(_edges(ordered, joined), nodes, ordered)
    nodes.update(addresses)
    edges = [edge for edge in edges if edge.source in nodes and edge.target in nodes]

    ids = sorted(nodes)
    numbers = {id_: number for number, id_ in enumerate(ids)}
    edge_types = tuple(sorted({edge.type for edge in edges}.union(agreed.types)))
    codes = {name: code for code, name in enumerate(edge_types)}
    rows = agreed.rows
    passages = np.array([numbers.get(passage_id(one.document_id), -1) for one in ordered], dtype=np.int64)
    things = np.full(len(agreed.things.keys), -1, dtype=np.int64)
    things[list(thing_ids)] = [numbers[id_] for id_ in thing_ids.values()]
    mentioned = np.array([codes[name] for name in agreed.types], dtype=np.int64)
    mentions = (passages[rows.documents], things[rows.things], mentioned[rows.types], rows.weights)
    columns = _joined(mentions, edges, numbers, codes)
    company = agreed.company.renumbered(things)
    return Resolved(tuple(nodes[id_] for id_ in ids), *columns, edge_types, _labels(edges), company)


def _nodes(
    contributions: Sequence[Contribution], agreed: Agreed, readings: Readings
) -> tuple[dict[str, Node], dict[str, str], dict[int, str]]:
    """The nodes by id, the ids that were joined with another, and the node of every thing."""
    nodes: dict[str, Node] = {}
    joined: dict[str, str] = {}
    thing_ids: dict[int, str] = {}
    for thing, name in agreed.names.items():
        node = readings.node(agreed.things.kinds[thing], name)
        nodes[node.id] = node
        thing_ids[thing] = node.id
    for contribution in contributions:
        if (contribution.mentions or contribution.words) and passage_id(contribution.document_id) not in nodes:
            passage = Node.passage(contribution.document_id)
            nodes[passage.id] = passage
        for node in contribution.nodes:
            if goes_by_name(node):
                joined[node.id] = thing_ids[agreed.things.of(node.kind, node.name)]
                named = nodes[joined[node.id]]
                node = Node(named.id, named.kind, named.name, node.document_id, node.metadata)  # noqa: PLW2901 - its joined form
            known = nodes.get(node.id)
            if known is None or _order(node) < _order(known):
                nodes[node.id] = node
    return nodes, joined, thing_ids


def _order(node: Node) -> tuple[bool, bool, str, str, str, str]:
    """Of several nodes with one id the one that says most is kept, then the smallest."""
    unnamed = node.name == node.document_id
    metadata = repr(sorted(node.metadata.items())) if node.metadata else ""
    return unnamed, not metadata, node.kind, node.name, node.document_id or "", metadata


def _edges(contributions: Sequence[Contribution], joined: Mapping[str, str]) -> list[Edge]:
    """The edges said outright, between joined nodes; one that joining turned into a loop is left out."""
    found = []
    for contribution in contributions:
        for edge in contribution.edges:
            source, target = joined.get(edge.source, edge.source), joined.get(edge.target, edge.target)
            if source != target or edge.source == edge.target:
                found.append(Edge(source, target, edge.type, edge.weight, edge.label))
    return found


def _joined(
    columns: tuple[Numbers, Numbers, Numbers, Floats],
    edges: Sequence[Edge],
    numbers: Mapping[str, int],
    codes: Mapping[str, int],
) -> tuple[Numbers, Numbers, Floats, Numbers]:
    """Edges in columns (source, target, type, weight) and edges one by one, together."""
    sources, targets, types, weights = columns
    return _summed(
        np.concatenate([sources, np.array([numbers[edge.source] for edge in edges], dtype=np.int64)]),
        np.concatenate([targets, np.array([numbers[edge.target] for edge in edges], dtype=np.int64)]),
        np.concatenate([types, np.array([codes[edge.type] for edge in edges], dtype=np.int64)]),
        np.concatenate([weights, np.array([edge.weight for edge in edges], dtype=np.float64)]),
    )


def _summed(
    sources: Numbers, targets: Numbers, types: Numbers, weights: Floats
) -> tuple[Numbers, Numbers, Floats, Numbers]:
    """One edge per source, target and type, in that order, with the weights summed."""
    # equal edges are added smallest first, so that the sum does not depend on the order they came in
    order = np.lexsort((weights, types, targets, sources))
    sources, targets, types = sources[order], targets[order], types[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(sources) != 0) | (np.diff(targets) != 0) | (np.diff(types) != 0)
    first = np.flatnonzero(new)
    summed = np.add.reduceat(weights[order], first) if len(first) else weights
    return sources[first], targets[first], summed, types[first]


def _labels(edges: Sequence[Edge]) -> dict[EdgeKey, str]:
    """How each relation was written most often; of equals the smallest."""
    written: defaultdict[EdgeKey, Counter[str]] = defaultdict(Counter)
    for edge in edges:
        if edge.label:
            written[edge.source, edge.target, edge.type][edge.label] += 1
    return {key: min(labels, key=lambda label: (-labels[label], label)) for key, labels in written.items()}
