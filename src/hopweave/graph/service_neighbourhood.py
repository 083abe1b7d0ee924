"""What calls the services of the results, and what they call."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field

from hopweave.component import Component
from hopweave.errors import GraphTimeout
from hopweave.graph.build.builders.addresses import named_in
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import Node
from hopweave.graph.paths.neighbourhood import Neighbourhood, neighbourhood
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """The neighbourhood of each service by its name, those of better hits first.

    `missing` says what to do if the hits name services and the graph knows of none.
    """

    by_name: Mapping[str, Neighbourhood]
    missing: str | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """One line of text per service that has neighbours, the best last, as the end of a context is read best."""
        described = ((name, "; ".join(_describe(around))) for name, around in self.by_name.items())
        return tuple(reversed([f"{name} {words}" for name, words in described if words]))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain JSON types."""
        return {
            name: {
                "outgoing": [node.name for node in around.outgoing],
                "incoming": [node.name for node in around.incoming],
                "edges": [[edge.source, edge.type, edge.target] for edge in around.edges],
            }
            for name, around in self.by_name.items()
        }


class ServiceNeighbourhood(Component):
    """Looks around the services that the hits are about: what they call, what calls them, and the edges.

    >>> from hopweave.document import Document
    >>> from hopweave.graph.build.builders.services import ServicesBuilder
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> with KnowledgeBase.open(builders=[ServicesBuilder()]) as kb:
    ...     _ = kb.add([Document("d", "POST /orders", {"service": "shop", "calls_out": ["till", "stock"]})])
    ...     ServiceNeighbourhood().around([Hit("d")], kb).lines
    ('shop —calls→ stock, till',)
    """

    switch: ClassVar[str | None] = "graph"

    kind: Literal["service_neighbourhood"] = "service_neighbourhood"
    node_kinds: tuple[str, ...] = Field(
        default=("service",), min_length=1, description="Kinds of the nodes to look around."
    )
    edge_types: tuple[str, ...] | None = Field(
        default=("calls",), description="Edges that count; None for all of them."
    )

    service_fields: tuple[str, ...] = Field(
        default=("service_name", "service", "services"),
        description="Metadata fields with the service of a hit, to tell whether the graph lacks services.",
    )

    def around(
        self, hits: Sequence[Hit], knowledge: Knowledge, *, tenant: Mapping[str, Any] | None = None
    ) -> Neighbourhoods:
        """What surrounds the services of these hits, those of the first hit first.

        With a tenant, only what follows from documents that it may see. If a server that holds the graph takes too
        long, there is nothing, and `missing` says so.
        """
        try:
            return self._around(hits, graph_of(knowledge, self.kind, tenant))
        except GraphTimeout as error:
            return Neighbourhoods({}, str(error))

    def _around(self, hits: Sequence[Hit], graph: GraphPort) -> Neighbourhoods:
        passages = passage_numbers(graph, [hit.id for hit in hits])
        about = neighbourhood(graph, passages.values(), edge_types=("about",))
        names = {node.id: node.name for node in about.outgoing if node.kind in self.node_kinds}
        best_rank = {Node.passage(hit.id).id: rank for rank, hit in reversed(list(enumerate(hits)))}
        edges = sorted((best_rank[edge.source], edge.target) for edge in about.edges if edge.target in names)
        numbers = graph.find(names)
        services = dict.fromkeys(service for _, service in edges)
        return Neighbourhoods(
            {names[id_]: neighbourhood(graph, [numbers[id_]], edge_types=self.edge_types) for id_ in services},
            None if services else self._missing(hits),
        )

    def _missing(self, hits: Sequence[Hit]) -> str | None:
        """How to have services in the graph, if it has none of those that the metadata of the hits names."""
        named = [name for hit in hits for field in self.service_fields for name in named_in(hit.metadata.get(field))]
        if not named or "service" not in self.node_kinds:
            return None
        return (
            f"the graph has no services, but the hits name {', '.join(sorted(set(named))[:3])}: index with the builder "
            "services, as in hopweave index --graph services, or builders=[ServicesBuilder()]"
        )


def _describe(around: Neighbourhood) -> Iterator[str]:
    """Per edge type: the arrow, and the names at its other end."""
    outgoing = {node.id: node.name for node in around.outgoing}
    incoming = {node.id: node.name for node in around.incoming}
    for type_ in dict.fromkeys(edge.type for edge in around.edges):
        edges = [edge for edge in around.edges if edge.type == type_]
        if targets := [outgoing[edge.target] for edge in edges if edge.target in outgoing]:
            yield f"—{type_}→ {', '.join(targets)}"
        if sources := [incoming[edge.source] for edge in edges if edge.source in incoming]:
            yield f"←{type_}— {', '.join(sources)}"
