"""What the documents' own nodes are connected to."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import NamedParameters
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import Node
from hopweave.graph.paths.neighbourhood import neighbourhood
from hopweave.metadata.tenants import checked_tenant


@component
class NeighbourhoodBuilder(NamedParameters):
    """
    Tells what documents point to in the graph, what points to them, and the edges that say so.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import NeighbourhoodBuilder

    builder = NeighbourhoodBuilder(knowledge_base="hopweave.db")
    result = builder.run(documents=[Document(id="skua")])
    names = [node["name"] for node in result["outgoing"]]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        edge_types: Sequence[str] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), in the
            place of a knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param edge_types: Only edges of these types; None for all.
        :param tenant: Metadata values a document must have for its contributions to be visible.
        """
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self.tenant = checked_tenant(tenant)
        self.edge_types = None if edge_types is None else list(edge_types)
        self._file = KnowledgeFile(knowledge_base, None, graph, graph_schema, graph_alone=True)

    def warm_up(self) -> None:
        """Open the knowledge base or the graph."""
        self._file.warm_up()

    def close(self) -> None:
        """Let go of the knowledge base or the graph."""
        self._file.close()

    @component.output_types(outgoing=list[dict[str, Any]], incoming=list[dict[str, Any]], edges=list[dict[str, Any]])
    def run(
        self, documents: list[Document], edge_types: list[str] | None = None, tenant: Tenant = None
    ) -> dict[str, Any]:
        """
        Look around documents.

        :param documents: The documents.
        :param edge_types: Only edges of these types, instead of those given at construction.
        :param tenant: Metadata values a document must have to be seen at all, within what was given at construction.
        :returns: The nodes that are `outgoing` and `incoming`, and the `edges`, as plain data.
        """
        graph = graph_of(self._file.knowledge(), "neighbourhood", narrowed(self.tenant, tenant))
        numbers = passage_numbers(graph, [one.id for one in documents])
        types = self.edge_types if edge_types is None else edge_types
        around = neighbourhood(graph, numbers.values(), edge_types=types)
        tag("neighbourhood", (), edges=len(around.edges))
        return {
            "outgoing": [_plain(node) for node in around.outgoing],
            "incoming": [_plain(node) for node in around.incoming],
            "edges": [asdict(edge) for edge in around.edges],
        }


def _plain(node: Node) -> dict[str, Any]:
    return {"id": node.id, "kind": node.kind, "name": node.name, "document_id": node.document_id}
