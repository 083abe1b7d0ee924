"""A retriever that knows when not to retrieve."""

from dataclasses import replace
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.nodes import visible_nodes
from llama_index.hopweave.questions import tenant_of
from llama_index_instrumentation import get_dispatcher

from hopweave.routing.gate import Gate

dispatcher = get_dispatcher(__name__)


class GateRetriever(BaseRetriever):
    """
    Passes on what needs retrieval; greetings, commands and the like find nothing.

    In a query engine, nothing found means "Empty Response": there, `GateQueryEngine` is the better choice.

    Args:
        retriever: The retriever behind the gate.
        gate: The gate; the usual one when not given.
        kwargs: What every LlamaIndex retriever takes.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import GateRetriever

        GateRetriever(index.as_retriever()).retrieve("Good morning!")  # []
        ```

    """

    def __init__(self, retriever: BaseRetriever, gate: Gate | None = None, **kwargs: Any) -> None:
        """Put the retriever behind the gate."""
        self._retriever = retriever
        self._gate = Gate() if gate is None else gate
        super().__init__(**kwargs)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        decision = self._gate.decide(query_bundle.query_str)
        if not decision.retrieve:
            return []
        nodes = self._retriever.retrieve(replace(query_bundle, query_str=decision.text))
        return visible_nodes(nodes, tenant_of(query_bundle))

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        decision = self._gate.decide(query_bundle.query_str)
        if not decision.retrieve:
            return []
        nodes = await self._retriever.aretrieve(replace(query_bundle, query_str=decision.text))
        return visible_nodes(nodes, tenant_of(query_bundle))
