"""What calls the services of the documents, and what they call."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.questions import Skip, Tenant, narrowed, to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.metadata.tenants import checked_tenant

_CORE = ServiceNeighbourhood()


@component
class ServiceNeighbourhoodBuilder(NamedParameters):
    """
    Looks around the services that documents are about. Its output `lines` fits the input `neighbours` of
    `ContextBuilder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ServiceNeighbourhoodBuilder

    builder = ServiceNeighbourhoodBuilder(knowledge_base="hopweave.db")
    lines = builder.run(documents=[Document(id="skua")])["lines"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        node_kinds: Sequence[str] = _CORE.node_kinds,
        edge_types: Sequence[str] | None = _CORE.edge_types,
        service_fields: Sequence[str] = _CORE.service_fields,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), in the
            place of a knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param node_kinds: Kinds of the nodes to look around.
        :param edge_types: Edges that count; None for all of them.
        :param service_fields: Metadata fields with the service of a document, to tell whether the graph lacks services.
        :param tenant: Metadata values a document must have for its contributions to be visible.
        """
        self.builder = ServiceNeighbourhood(node_kinds=node_kinds, edge_types=edge_types, service_fields=service_fields)
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self.tenant = checked_tenant(tenant)
        self._file = KnowledgeFile(knowledge_base, None, graph, graph_schema, graph_alone=True)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(
            self,
            self.builder,
            knowledge_base=self.knowledge_base,
            graph=self.graph,
            graph_schema=self.graph_schema,
            tenant=self.tenant,
        )

    def warm_up(self) -> None:
        """Open the knowledge base or the graph."""
        self._file.warm_up()

    def close(self) -> None:
        """Let go of the knowledge base or the graph."""
        self._file.close()

    @component.output_types(lines=list[str], neighbourhood=dict[str, Any], failures=dict[str, str])
    def run(
        self,
        documents: list[Document],
        tenant: Tenant = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Look around the services of documents.

        :param documents: What was retrieved, best first.
        :param tenant: Metadata values a document must have to be seen at all, within what was given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: The calls as `lines` of text, best last, and the `neighbourhood` by service as plain data; if the
            graph has no services though the documents name some, `failures` says what to do.
        """
        if skip and self.builder.skipped_by(to_query("", skip=skip)):
            return {"lines": [], "neighbourhood": {}}
        hits = [to_hit(one) for one in documents]
        builder = overridden(self.builder, overrides)
        around = builder.around(hits, self._file.knowledge(), tenant=narrowed(self.tenant, tenant))
        tag("service_neighbourhood", (), services=len(around.by_name))
        found: dict[str, Any] = {"lines": list(around.lines), "neighbourhood": around.as_dict()}
        if around.missing is None:
            return found
        return {**found, "failures": report_failures(self, {self.builder.kind: around.missing})}
