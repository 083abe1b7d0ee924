"""A query engine that answers a greeting without looking anything up."""

import asyncio
from dataclasses import asdict, replace
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
    StreamingResponse,
)
from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.types import TokenAsyncGen, TokenGen
from llama_index.hopweave.nodes import visible_nodes
from llama_index.hopweave.questions import tenant_of

from hopweave.routing.gate import Gate, GateDecision

REPLY = "How can I help you?"
"""What is said to a message that needs no retrieval when there is no language model."""


class GateQueryEngine(BaseQueryEngine):
    """
    Passes questions on and answers what needs no retrieval by itself.

    The response's metadata has the gate's decision under "gate".

    Args:
        query_engine: The engine behind the gate.
        gate: The gate; the usual one when not given.
        llm: The language model that answers what needs no retrieval.
        reply: What is said instead if there is no language model.
        streaming: Whether what needs no retrieval is answered as a stream; as the engine does when not given.
        callback_manager: LlamaIndex's callback manager.

    Examples:
        ```python
        from llama_index.query_engine.hopweave import GateQueryEngine

        engine = GateQueryEngine(index.as_query_engine())
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
        streaming: bool | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Put the engine behind the gate."""
        self._query_engine = query_engine
        self._gate = Gate() if gate is None else gate
        self._llm = llm
        self._reply = reply
        synthesizer = getattr(query_engine, "_response_synthesizer", None)
        self._streaming = getattr(synthesizer, "_streaming", False) if streaming is None else streaming
        super().__init__(callback_manager or getattr(query_engine, "callback_manager", None))

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decision = self._gate.decide(query_bundle.query_str)
        if decision.retrieve:
            response = self._query_engine.query(replace(query_bundle, query_str=decision.text))
            return _decided(_within(response, query_bundle), decision)
        if self._streaming:
            return _decided(StreamingResponse(self._said(decision.text)), decision)
        answer = self._reply if self._llm is None else self._llm.complete(decision.text).text
        return _decided(Response(answer), decision)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        decision = self._gate.decide(query_bundle.query_str)
        if decision.retrieve:
            response = await self._query_engine.aquery(replace(query_bundle, query_str=decision.text))
            return _decided(_within(response, query_bundle), decision)
        if self._streaming:
            return _decided(AsyncStreamingResponse(self._said_async(decision.text)), decision)
        answer = self._reply if self._llm is None else (await self._llm.acomplete(decision.text)).text
        return _decided(Response(answer), decision)

    def _said(self, text: str) -> TokenGen:
        if self._llm is None:
            yield self._reply
            return
        for part in self._llm.stream_complete(text):
            yield part.delta or ""

    async def _said_async(self, text: str) -> TokenAsyncGen:
        if self._llm is None:
            yield self._reply
            return
        async for part in await self._llm.astream_complete(text):
            yield part.delta or ""

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes of the engine behind the gate; none for a message that needs no retrieval."""
        decision = self._gate.decide(query_bundle.query_str)
        if not decision.retrieve:
            return []
        nodes = self._query_engine.retrieve(replace(query_bundle, query_str=decision.text))
        return visible_nodes(nodes, tenant_of(query_bundle))

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        decision = self._gate.decide(query_bundle.query_str)
        if not decision.retrieve:
            return []
        question = replace(query_bundle, query_str=decision.text)
        if isinstance(self._query_engine, RetrieverQueryEngine):
            nodes = await self._query_engine.aretrieve(question)
        else:  # which has no asynchronous way
            nodes = await asyncio.to_thread(self._query_engine.retrieve, question)
        return visible_nodes(nodes, tenant_of(query_bundle))

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"query_engine": self._query_engine}


def _within(response: RESPONSE_TYPE, query_bundle: QueryBundle) -> RESPONSE_TYPE:
    """The response, or an error if the engine has answered from nodes that the bundle's tenant may not see."""
    if len(visible_nodes(response.source_nodes, tenant_of(query_bundle))) < len(response.source_nodes):
        raise ValueError("tenant: the engine behind the gate does not keep to it; give the tenant to its retriever")
    return response


def _decided(response: RESPONSE_TYPE, decision: GateDecision) -> RESPONSE_TYPE:
    details: dict[str, Any] = asdict(decision)
    response.metadata = {**(response.metadata or {}), "gate": details}
    return response
