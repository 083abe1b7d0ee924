"""Answers from numbered passages."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from functools import partial
from typing import Any, cast

from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle, QueryType
from llama_index.hopweave.nodes import CONNECTIONS_KEY, to_hit, visible_nodes
from llama_index.hopweave.questions import to_query

from hopweave.context.cite import cited_prompt
from hopweave.context.context_builder import Context, ContextBuilder
from hopweave.hit import Hit
from hopweave.metadata.tenants import checked_tenant
from hopweave.query import Query

Build = Callable[[Query, Sequence[Hit]], Context]
"""A question and the hits that are to answer it in, the context out."""

CITED_PROMPT = PromptTemplate(cited_prompt("{query_str}", "{context_str}"))


class ContextBuilderSynthesizer(BaseSynthesizer):
    """
    Asks the language model once, with a context that never exceeds its budget and numbers that lead back to nodes.

    The response's metadata has, under "hopweave", the numbered citations, the list of sources, the ids of nodes that
    did not fit and the numbers in the answer that lead nowhere.

    Args:
        llm: The language model; LlamaIndex's `Settings.llm` when not given.
        context: Packs the nodes into the context: a builder, or a function of the question and the hits; the usual
            builder when not given.
        text_qa_template: The prompt, with `{context_str}` and `{query_str}`.
        tenant: Metadata values a node must have to be seen at all; others are dropped.
        kwargs: What every response synthesizer takes: `streaming`, `output_cls`, `callback_manager` ...

    Examples:
        ```python
        from llama_index.core.llms import MockLLM
        from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer

        engine = index.as_query_engine(response_synthesizer=ContextBuilderSynthesizer(llm=MockLLM()))
        engine.query("When does the tide gate open?").metadata["hopweave"]["sources"]
        ```

    """

    def __init__(
        self,
        llm: LLM | None = None,
        *,
        context: ContextBuilder | Build | None = None,
        text_qa_template: BasePromptTemplate = CITED_PROMPT,
        tenant: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep the context builder and the prompt."""
        super().__init__(llm=llm, **kwargs)
        builder = ContextBuilder() if context is None else context
        self._build: Build = partial(_with_connections, builder) if isinstance(builder, ContextBuilder) else builder
        self._template = text_qa_template
        self._tenant = checked_tenant(tenant)

    def synthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer from these nodes."""
        question = self._question(query)
        nodes, others = (visible_nodes(given or (), question.tenant) for given in (nodes, additional_source_nodes))
        context = self._build(question, [to_hit(node) for node in nodes])
        response = super().synthesize(query, nodes, others, context=context, **response_kwargs)
        return _cited(response, context)

    async def asynthesize(
        self,
        query: QueryType,
        nodes: list[NodeWithScore],
        additional_source_nodes: Sequence[NodeWithScore] | None = None,
        **response_kwargs: Any,
    ) -> RESPONSE_TYPE:
        """Answer from these nodes without blocking the event loop."""
        question = self._question(query)
        nodes, others = (visible_nodes(given or (), question.tenant) for given in (nodes, additional_source_nodes))
        context = await asyncio.to_thread(self._build, question, [to_hit(node) for node in nodes])
        response = await super().asynthesize(query, nodes, others, context=context, **response_kwargs)
        return _cited(response, context)

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        """Ask the language model."""
        parts = self._parts(query_str, text_chunks, response_kwargs)
        if self._output_cls is not None:
            return self._llm.structured_predict(self._output_cls, self._prompt(), **parts)
        ask = self._llm.stream if self._streaming else self._llm.predict
        return ask(self._template, **parts)

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:
        """Ask the language model without blocking the event loop."""
        parts = self._parts(query_str, text_chunks, response_kwargs)
        if self._output_cls is not None:
            return await self._llm.astructured_predict(self._output_cls, self._prompt(), **parts)
        ask = self._llm.astream if self._streaming else self._llm.apredict
        return await ask(self._template, **parts)

    def _question(self, query: QueryType) -> Query:
        return to_query(query if isinstance(query, QueryBundle) else QueryBundle(query), tenant=self._tenant)

    def _prompt(self) -> PromptTemplate:
        """A template for structured_predict, which takes any but changes it."""
        return cast("PromptTemplate", deepcopy(self._template))

    def _parts(self, query_str: str, text_chunks: Sequence[str], response_kwargs: dict[str, Any]) -> dict[str, str]:
        context = response_kwargs.get("context")
        text = context.text if isinstance(context, Context) else "\n\n".join(text_chunks)
        return {"query_str": query_str, "context_str": text}

    def _get_prompts(self) -> PromptDictType:
        return {"text_qa_template": self._template}

    def _update_prompts(self, prompts: PromptDictType) -> None:
        self._template = prompts.get("text_qa_template", self._template)


def _with_connections(builder: ContextBuilder, question: Query, hits: Sequence[Hit]) -> Context:  # noqa: ARG001
    """The context; what says how others are connected goes before the passages and has no number."""
    known = [hit.metadata.get(CONNECTIONS_KEY) for hit in hits]
    lines = [line for one in known if one is not None for line in one["lines"]]
    return builder.build([hit for hit, one in zip(hits, known, strict=True) if one is None], lines)


def _cited(response: RESPONSE_TYPE, context: Context) -> RESPONSE_TYPE:
    details: dict[str, Any] = {
        "citations": [asdict(one) for one in context.citations],
        "sources": context.sources,
        "dropped": list(context.dropped),
    }
    if isinstance(response, Response):  # a stream has not been read yet
        details["unresolved"] = list(context.check(response.response or "").unresolved)
    response.metadata = {**(response.metadata or {}), "hopweave": details}
    return response
