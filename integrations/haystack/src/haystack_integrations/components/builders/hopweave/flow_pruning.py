"""The most reliable paths between the best documents, for a prompt."""

from pathlib import Path
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.questions import Skip, Tenant, asks_for_paths, narrowed, to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.metadata.tenants import checked_tenant

_CORE = FlowPruning()


@component
class FlowPruningBuilder(NamedParameters):
    """
    Finds the paths through the graph that connect the best documents, and keeps the most reliable ones.

    flow = product over the edges of decay · share of the edge. reliability = 0.6 · mean score of the nodes + 0.4 ·
    flow. Its output `paths` fits the input of that name of `ContextBuilder`, its input `plan` the output of that
    name of `PlanRouter`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import FlowPruningBuilder

    builder = FlowPruningBuilder(knowledge_base="hopweave.db", min_hits=2)
    documents = [Document(id="skua", score=1.0), Document(id="yard", score=0.5)]
    paths = builder.run(documents=documents)["paths"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        min_hits: int = _CORE.min_hits,
        found_by: str | None = _CORE.found_by,
        max_endpoints: int = _CORE.max_endpoints,
        max_hops: int = _CORE.max_hops,
        threshold: float = _CORE.threshold,
        decay: float = _CORE.decay,
        top_k: int = _CORE.top_k,
        time_budget_seconds: float = _CORE.time_budget_seconds,
        edge_type_weights: dict[str, float] = _CORE.edge_type_weights,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the builder; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), in the
            place of a knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param min_hits: With fewer documents than this there is nothing to prune.
        :param found_by: Kind of the source that must have returned so many; None counts the documents there are.
        :param max_endpoints: How many of the best documents paths begin and end at.
        :param max_hops: The longest path.
        :param threshold: A branch that carries less flow ends.
        :param decay: What is left of the flow after each hop.
        :param top_k: How many paths to keep.
        :param time_budget_seconds: Best so far after this time.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param tenant: Metadata values a document must have for its contributions to be visible.
        """
        self.pruning = FlowPruning(
            min_hits=min_hits,
            found_by=found_by,
            max_endpoints=max_endpoints,
            max_hops=max_hops,
            threshold=threshold,
            decay=decay,
            top_k=top_k,
            time_budget_seconds=time_budget_seconds,
            edge_type_weights=edge_type_weights,
        )
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
            self.pruning,
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

    @component.output_types(paths=list[str], details=list[dict[str, Any]], document_ids=list[str], finished=bool)
    def run(
        self,
        documents: list[Document],
        plan: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
    ) -> dict[str, Any]:
        """
        Find the paths between documents.

        :param documents: What was retrieved, with scores.
        :param plan: The plan of the question; if it does not ask for paths, there are none.
        :param top_k: How many paths to keep, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all, within what was given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `paths` as lines of text, best last; the same as `details`, best first; the `document_ids` on them;
            and whether the search `finished` in time.
        """
        skipped = bool(skip) and self.pruning.skipped_by(to_query("", skip=skip))
        asked = asks_for_paths(plan) and not skipped
        hits = [to_hit(one) for one in documents if asked]
        pruning = overridden(self.pruning, overrides, top_k=top_k)
        found = pruning.paths(hits, self._file.knowledge(), tenant=narrowed(self.tenant, tenant))
        tag("flow_pruning", (), paths=len(found.paths), finished=found.finished)
        return {
            "paths": list(found.lines),
            "details": found.as_list(),
            "document_ids": list(found.document_ids),
            "finished": found.finished,
        }
