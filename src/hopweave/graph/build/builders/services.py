"""Which services a system is made of and which call which, from the metadata of code and deployment files."""

from typing import Literal

from pydantic import Field

from hopweave.document import Document
from hopweave.graph.build.builders.addresses import named_in
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.language.words import word_string


class ServicesBuilder(GraphBuilder):
    """Connects a passage with the service it belongs to, that service with those it calls, and every text with the
    services it names.

    >>> document = Document("d", "POST /charge", {"service_name": "order-service", "calls_out": ["payment-service"]})
    >>> [(edge.source, edge.type, edge.target) for edge in ServicesBuilder().contribute(document).edges]
    [('service:order-service', 'calls', 'service:payment-service')]
    """

    kind: Literal["services"] = "services"
    service_fields: tuple[str, ...] = Field(
        default=("service_name", "service", "services"),
        description="Metadata fields that name the service of a document.",
    )
    calls_fields: tuple[str, ...] = Field(
        default=("calls_out",), description="Metadata fields that name what it calls."
    )
    weight: float = Field(default=2.0, gt=0, description="Weight of the edge between a passage and its service.")
    search_text: bool = Field(default=True, description="Look for the names of services in the text.")

    def contribute(self, document: Document) -> Contribution:
        """The passage, its services, and the calls they make."""
        own, called = self._names(document, self.service_fields), self._names(document, self.calls_fields)
        nodes = {node.id: node for node in (Node.entity(name, "service") for name in (*own, *called))}
        return Contribution(
            document.id,
            nodes=(Node.passage(document.id, document.title), *nodes.values()),
            edges=tuple(
                Edge(Node.entity(caller, "service").id, Node.entity(name, "service").id, "calls")
                for caller in own
                for name in called
                if caller != name
            ),
            mentions=(
                *(Mention(name, "about", self.weight, "service") for name in own),
                *(Mention(name, kind="service") for name in called if name not in own),
            ),
            words=word_string(document.text) if self.search_text else "",
        )

    def _names(self, document: Document, fields: tuple[str, ...]) -> list[str]:
        return list(dict.fromkeys(name for field in fields for name in named_in(document.metadata.get(field))))
