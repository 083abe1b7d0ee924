"""Which sources a question deserves."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.bridge.pydantic import Field
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle
from llama_index.core.tools.types import ToolMetadata
from llama_index.hopweave.knowledge import opened
from llama_index.hopweave.questions import tenant_of

from hopweave.graph.documents import graph_of
from hopweave.graph.link.linker import Linker
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import checked_tenant
from hopweave.routing.plan import Planner


class PlanSelection(SelectorResult):
    """A selection that remembers the plan: sources, complexity, restart, top_k, prune_paths and the reason."""

    plan: dict[str, Any] = Field(default_factory=dict)


class PlanSelector(BaseSelector):
    """
    Picks the tools worth asking by how complex the question is: by rules, without a language model.

    The names of the tools are the names of the sources. `FusionRetriever(plan=…)` plans likewise, and fuses what the
    chosen retrievers find.

    Args:
        planner: The planner; the usual one when not given.
        knowledge_base: An open knowledge base, or the path of its file, in whose graph the entities of the question are
            counted; without one there are none.
        tenant: Metadata values a document must have for the entities it names to be counted.

    Examples:
        ```python
        from hopweave.routing.plan import Planner
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import RouterRetriever
        from llama_index.core.tools import RetrieverTool
        from llama_index.retrievers.hopweave import BM25Retriever, PageRankRetriever
        from llama_index.selectors.hopweave import PlanSelector

        tools = [
            RetrieverTool.from_defaults(BM25Retriever("hopweave.db"), name="text", description="Words."),
            RetrieverTool.from_defaults(PageRankRetriever("hopweave.db"), name="graph", description="Connections."),
        ]
        selector = PlanSelector(Planner(skip_graph_when_simple=True), knowledge_base="hopweave.db")
        nodes = RouterRetriever(selector, tools, llm=MockLLM()).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        planner: Planner | None = None,
        *,
        knowledge_base: Knowledge | str | Path | None = None,
        tenant: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep the planner; the file is opened here."""
        self._planner = Planner() if planner is None else planner
        self._knowledge = None if knowledge_base is None else opened(knowledge_base)
        self._tenant = checked_tenant(tenant)

    def _select(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        names = [str(choice.name) for choice in choices]
        plan = self._planner.plan(query.query_str, self._entities(query), names)
        return PlanSelection(
            selections=[SingleSelection(index=names.index(name), reason=plan.reason) for name in plan.sources],
            plan={**asdict(plan), "sources": list(plan.sources)},
        )

    async def _aselect(self, choices: Sequence[ToolMetadata], query: QueryBundle) -> SelectorResult:
        return self._select(choices, query)

    def _entities(self, query: QueryBundle) -> int:
        if self._knowledge is None:
            return 0
        graph = graph_of(self._knowledge, self._planner.kind, tenant_of(query, self._tenant))
        return len(Linker().link(query.query_str, graph).links)

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        """There are none."""
