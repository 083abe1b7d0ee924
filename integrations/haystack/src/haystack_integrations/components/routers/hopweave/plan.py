"""Which sources a question deserves."""

from dataclasses import asdict, replace
from typing import Any

from haystack import component

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import OVERRIDES, QUERY, TENANT, Input
from haystack_integrations.common.hopweave.knowledge_file import OverKnowledge
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.settings import GRAPH, GRAPH_SCHEMA, KNOWLEDGE_BASE, OWN_TENANT, SOURCES
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.graph.documents import graph_of
from hopweave.graph.link.linker import Linker
from hopweave.routing.plan import Planner


@derived(Planner)
class PlanRouter(OverKnowledge):
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

    settings = (
        KNOWLEDGE_BASE,
        GRAPH,
        GRAPH_SCHEMA,
        SOURCES,
        replace(
            OWN_TENANT, description="Metadata values a document must have for the entities it names to be counted."
        ),
    )

    sources: list[str]
    tenant: dict[str, Any] | None

    def _hold(self, planner: Planner) -> None:
        """Create the planner; a knowledge base or graph is opened on first use."""
        self.planner = planner
        if self.knowledge_base is not None or self.graph is not None:
            self._file = self._located(graph_alone=True)
        if clashes := sorted({"plan", "restart"}.intersection(self.sources)):
            raise ValueError(f"sources: {clashes[0]!r} is not allowed: it is the name of another output")
        component.set_output_types(self, plan=dict[str, Any], restart=float, **dict.fromkeys(self.sources, str))

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
