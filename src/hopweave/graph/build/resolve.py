"""The graph that contributions make together, built at once."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from hopweave.graph.build.changes import apply
from hopweave.graph.build.entity_resolution import EntityResolution
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.graph.storage.table_graph import TableGraph, describe_all
from hopweave.graph.storage.tables import ALIVE, BACKWARD, PRESENT, GraphTables


class Resolved:
    """The graph of a set of contributions, one by one: for looking at it, comparing and exporting."""

    def __init__(self, tables: GraphTables) -> None:
        self.tables = tables

    def graph(self, version: int = 0) -> TableGraph:
        """The graph that algorithms walk on."""
        return TableGraph(self.tables, version)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, ordered by id."""
        return tuple(sorted(self._described.values(), key=lambda node: node.id))

    @cached_property
    def _described(self) -> dict[int, Node]:
        present = np.flatnonzero(self.tables.nodes["flags"] & PRESENT)
        return dict(zip(present.tolist(), describe_all(self.tables, present.tolist()), strict=True))

    def edges(self) -> list[Edge]:
        """The edges by source, target and type, each of these once, with the weights summed."""
        tables, known = self.tables, self._described
        factors = tables.rarity()
        sums: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
        for number, node in known.items():
            for target, code, weight in zip(*(field.tolist() for field in tables.rows.row(number)), strict=True):
                if not code & BACKWARD:
                    key = (node.id, known[target].id, tables.edge_types[code // 4])
                    sums[key].append(weight * float(factors[number]) * float(factors[target]))
        labels = self._labels()
        return [Edge(*key, sum(sorted(sums[key])), labels.get(key, "")) for key in sorted(sums)]

    def _labels(self) -> dict[tuple[str, str, str], str]:
        """How each relation was written most often; of equals the smallest."""
        tables, known = self.tables, self._described
        written: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
        columns = tables.edges
        for edge in np.flatnonzero((columns["label"] >= 0) & (columns["start"] >= 0) & (columns["flags"] & ALIVE > 0)):
            ends = known[int(columns["start"][edge])].id, known[int(columns["end"][edge])].id
            written[(*ends, tables.edge_types[columns["type"][edge]])][tables.texts[columns["label"][edge]]] += 1
        return {key: min(labels, key=lambda label: (-labels[label], label)) for key, labels in written.items()}


def resolve(contributions: Iterable[Contribution], settings: EntityResolution | None = None) -> Resolved:
    """The graph that these contributions make together.

    >>> from hopweave.document import Document
    >>> from hopweave.graph.build.builders.mentions import MentionsBuilder
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
    tables = GraphTables()
    apply(tables, {one.document_id: one for one in contributions}.values(), settings=settings)
    return Resolved(tables)
