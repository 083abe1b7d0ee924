"""What builders over the graph share: where the graph is, and who may see what of it."""

from pathlib import Path
from typing import Any

from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import checked_tenant


class GraphReader(CoreComponent):
    """Base class of builders over the graph of a knowledge base, or over a graph by itself."""

    knowledge_base: str | None
    graph: str | Secret | None
    graph_schema: str
    tenant: dict[str, Any] | None
    _file: KnowledgeFile

    def _hold(
        self,
        builder: Any,
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        *,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the builder; the file is opened on first use.

        :param builder: The object of the core.
        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), in the
            place of a knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param tenant: Metadata values a document must have for its contributions to be visible.
        """
        self.builder = builder
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self.tenant = checked_tenant(tenant)
        self._file = KnowledgeFile(knowledge_base, None, graph, graph_schema, graph_alone=True)

    def warm_up(self) -> None:
        """Open the knowledge base or the graph."""
        self._file.warm_up()

    def close(self) -> None:
        """Let go of the knowledge base or the graph."""
        self._file.close()

    def _knowledge(self) -> Knowledge:
        return self._file.knowledge()
