"""What the documents' own nodes are connected to."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from haystack import Document, component

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.documents import check_documents
from haystack_integrations.common.hopweave.graph_location import Graph
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, TENANT, Input
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.components.builders.hopweave.graph_reader import GraphReader
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import Node
from hopweave.graph.paths.neighbourhood import neighbourhood


@component
@derived()
class NeighbourhoodBuilder(GraphReader):
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

    inputs = (
        DOCUMENTS,
        Input(
            "edge_types",
            list[str] | None,
            "Only edges of these types, instead of those given at construction.",
            None,
        ),
        TENANT,
    )
    outputs: ClassVar[dict[str, Any]] = {
        "outgoing": list[dict[str, Any]],
        "incoming": list[dict[str, Any]],
        "edges": list[dict[str, Any]],
    }

    def _hold(  # type: ignore[override]
        self,
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        *,
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
        GraphReader._hold(self, None, knowledge_base, graph, graph_schema, tenant=tenant)
        self.edge_types = None if edge_types is None else list(edge_types)

    def _run(self, documents: list[Document], edge_types: list[str] | None, tenant: Tenant) -> dict[str, Any]:
        """
        Look around documents.

        :returns: The nodes that are `outgoing` and `incoming`, and the `edges`, as plain data.
        """
        check_documents(documents)
        graph = graph_of(self._knowledge(), "neighbourhood", narrowed(self.tenant, tenant))
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
