"""What the documents' own nodes are connected to."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.documents import check_documents
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, TENANT, Input
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.settings import Setting, as_list
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.components.builders.hopweave.graph_reader import GraphReader
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import Node
from hopweave.graph.paths.neighbourhood import neighbourhood


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
            "edge_types", list[str] | None, "Only edges of these types, instead of those given at construction.", None
        ),
        TENANT,
    )
    outputs: ClassVar[dict[str, Any]] = {
        "outgoing": list[dict[str, Any]],
        "incoming": list[dict[str, Any]],
        "edges": list[dict[str, Any]],
    }

    edge_types: list[str] | None

    settings = (
        *GraphReader.settings,
        Setting("edge_types", Sequence[str] | None, "Only edges of these types; None for all.", None, kept=as_list),
    )

    def _run(self, documents: list[Document], edge_types: list[str] | None, tenant: Tenant) -> dict[str, Any]:
        """
        Look around documents.

        :returns: The nodes that are `outgoing` and `incoming`, and the `edges`, as plain data.
        """
        check_documents(documents)
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
