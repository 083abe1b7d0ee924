"""A graph whose documents live in somebody else's store."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from hopweave.graph.port import GraphPort
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge
from hopweave.metadata.filters import in_tenant

Fetch = Callable[[list[str]], Iterable[Hit]]
"""Ids in, the documents that are there out, as hits."""


class ExternalDocuments(Knowledge):
    """What graph sources need to know, of documents that only somebody else's store holds.

    Walks go over `graph`; what they find is fetched by id, and what the store does not have is left out. It has no
    search by words or vectors: ask the store itself and hand its hits to the graph source as those of another source.

    >>> from hopweave.graph.model import Contribution, Node
    >>> from hopweave.graph.build.resolve import resolve
    >>> graph = resolve([Contribution("d", (Node.passage("d"), Node.passage("lost")))]).graph()
    >>> shelf = {"d": Hit("d", text="The Skua sails hourly.", metadata={"owner": "harbour"})}
    >>> there = ExternalDocuments(graph, lambda ids: [shelf[key] for key in ids if key in shelf])
    >>> there.get(["d", "lost"])["d"].text, there.visible({"owner": "harbour"}), there.visible({"owner": "museum"})
    ('The Skua sails hourly.', frozenset({'d'}), frozenset())
    """

    capabilities = frozenset({Capability.GRAPH, Capability.TENANTS})

    def __init__(self, graph: GraphPort, fetch: Fetch) -> None:
        self._graph = graph
        self._fetch = fetch

    @property
    def graph(self) -> GraphPort:
        """The graph given."""
        return self._graph

    @property
    def version(self) -> int:
        """That of the graph."""
        return self.graph.version

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:
        """The documents with these ids as the store has them; ids that do not exist are left out."""
        found = {hit.id: hit for hit in self._fetch(list(ids))}
        return {key: hit for key, hit in found.items() if in_tenant(hit.metadata, tenant)}

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """Of documents with these ids, those that a tenant may see; without ids all of the graph are fetched."""
        if ids is None:
            nodes = self.graph.nodes(np.flatnonzero(self.graph.nodes_of_kind("passage")))
            ids = [node.document_id for node in nodes if node.document_id]
        return frozenset(self.get(ids, tenant=tenant))

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """The vectors that come with the documents."""
        return {key: hit.vector for key, hit in self.get(ids).items() if hit.vector is not None}
