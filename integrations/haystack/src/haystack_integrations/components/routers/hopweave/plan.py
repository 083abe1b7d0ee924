"""Which sources a question deserves."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.inputs import OVERRIDES, QUERY, TENANT, Input
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile
from haystack_integrations.common.hopweave.parameters import check_names, overridden
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.documents import graph_of
from hopweave.graph.link.linker import Linker
from hopweave.metadata.tenants import checked_tenant
from hopweave.routing.plan import Planner


@component
@derived(Planner)
class PlanRouter(CoreComponent):
    """
    Sends a question to those sources that are worth asking; the branches of the others do not run.

    There is one output per source, to be connected to that source's retriever, `restart` for a graph retriever if the
    plan has one, and `plan` with everything. Given a knowledge base or a graph, it counts what the question names
    there.

    ```python
    from haystack_integrations.components.routers.hopweave import PlanRouter

    planner = PlanRouter(sources=["text", "vector", "graph"], skip_graph_when_simple=True)
    result = planner.run(query="Who built the tide gate?")
    sorted(result)  # ["plan", "text", "vector"]
    ```
    """

    inputs = (
        QUERY,
        Input("entities", int | None, "How many entities are linked in it; if None, the graph is asked.", None),
        TENANT,
        OVERRIDES,
    )

    def _hold(
        self,
        planner: Planner,
        sources: Sequence[str],
        knowledge_base: str | Path | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        *,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the planner.

        :param planner: The planner of the core.
        :param sources: The names of the sources, each of which becomes an output.
        :param knowledge_base: Path of the knowledge base file in whose graph entities are looked up; opened on first
            use.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), in the
            place of that of a knowledge base.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param tenant: Metadata values a document must have for the entities it names to be counted.
        """
        self.planner = planner
        check_names("sources", sources)
        self.tenant = checked_tenant(tenant)
        self.sources = list(sources)
        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self._file: KnowledgeFile | None = None
        if knowledge_base is not None or graph is not None:
            self._file = KnowledgeFile(knowledge_base, None, graph, graph_schema, graph_alone=True)
        if clashes := sorted({"plan", "restart"}.intersection(self.sources)):
            raise ValueError(f"sources: {clashes[0]!r} is not allowed: it is the name of another output")
        component.set_output_types(self, plan=dict[str, Any], restart=float, **dict.fromkeys(self.sources, str))

    def warm_up(self) -> None:
        """Open the knowledge base or the graph, if there is one."""
        if self._file:
            self._file.warm_up()

    def close(self) -> None:
        """Let go of the knowledge base."""
        if self._file:
            self._file.close()

    def _run(
        self, query: str, entities: int | None, tenant: Tenant, overrides: dict[str, Any] | None
    ) -> dict[str, Any]:
        """
        Plan the sources of a question.

        :returns: The question under the name of each source that is worth asking, `restart` if the plan has one, and
            `plan`.
        """
        seen_by = narrowed(self.tenant, tenant)
        if entities is None and self._file:
            entities = len(Linker().link(query, graph_of(self._file.knowledge(), "plan", seen_by)).links)
        plan = overridden(self.planner, overrides).plan(query, entities or 0, self.sources)
        tag("plan", (), complexity=plan.complexity, sources=",".join(plan.sources))
        restart = {} if plan.restart is None else {"restart": plan.restart}
        data = {**asdict(plan), "sources": list(plan.sources)}
        return {**dict.fromkeys(plan.sources, query), **restart, "plan": data}
