"""A query engine that answers a greeting without looking anything up."""

from dataclasses import asdict, replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.schema import NodeWithScore, QueryBundle

from hopweave.routing.gate import Gate, GateDecision

REPLY = "How can I help you?"
"""What is said to a message that needs no retrieval when there is no language model."""


class GatedQueryEngine(BaseQueryEngine):
    """
    Passes questions on and answers what needs no retrieval by itself.

    The response's metadata has the gate's decision under "gate".

    Args:
        query_engine: The engine behind the gate.
        gate: The gate; the usual one when not given.
        llm: The language model that answers what needs no retrieval.
        reply: What is said instead if there is no language model.
        callback_manager: LlamaIndex's callback manager.

    Examples:
        ```python
        from llama_index.query_engine.hopweave import GatedQueryEngine

        engine = GatedQueryEngine(index.as_query_engine())
        print(engine.query("Good morning!"))
        ```

    """

    def __init__(
        self,
        query_engine: BaseQueryEngine,
        gate: Gate | None = None,
        *,
        llm: LLM | None = None,
        reply: str = REPLY,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Put the engine behind the gate."""
        self._query_engine = query_engine
        self._gate = Gate() if gate is None else gate
        self._llm = llm
        self._reply = reply
        super().__init__(callback_manager or getattr(query_engine, "callback_manager", None))

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decision = self._gate.decide(query_bundle.query_str)
        if decision.retrieve:
            return _decided(self._query_engine.query(replace(query_bundle, query_str=decision.text)), decision)
        answer = self._reply if self._llm is None else self._llm.complete(decision.text).text
        return _decided(Response(answer), decision)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decision = self._gate.decide(query_bundle.query_str)
        if decision.retrieve:
            return _decided(await self._query_engine.aquery(replace(query_bundle, query_str=decision.text)), decision)
        answer = self._reply if self._llm is None else (await self._llm.acomplete(decision.text)).text
        return _decided(Response(answer), decision)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes of the engine behind the gate; none for a message that needs no retrieval."""
        decision = self._gate.decide(query_bundle.query_str)
        return self._query_engine.retrieve(replace(query_bundle, query_str=decision.text)) if decision.retrieve else []

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        decision = self._gate.decide(query_bundle.query_str)
        if not decision.retrieve:
            return []
        return await self._query_engine.aretrieve(replace(query_bundle, query_str=decision.text))

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self._query_engine}


def _decided(response: RESPONSE_TYPE, decision: GateDecision) -> RESPONSE_TYPE:
    told: dict[str, Any] = asdict(decision)
    response.metadata = {**(response.metadata or {}), "gate": told}
    return response
