"""What builders over the graph share: where the graph is, and who may see what of it."""

from typing import Any, ClassVar

from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile, OverKnowledge
from haystack_integrations.common.hopweave.settings import GRAPH, GRAPH_SCHEMA, KNOWLEDGE_BASE, OWN_TENANT, Setting


class GraphReader(OverKnowledge):
    """Base class of builders over the graph of a knowledge base, or over a graph by itself."""

    settings: ClassVar[tuple[Setting, ...]] = (KNOWLEDGE_BASE, GRAPH, GRAPH_SCHEMA, OWN_TENANT)

    tenant: dict[str, Any] | None
    _file: KnowledgeFile

    def _hold(self, builder: Any) -> None:
        """Create the builder; the file is opened on first use."""
        self.builder = builder
        self._file = self._located(graph_alone=True)
