"""Recipes as query engines."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.callbacks import CallbackManager
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import BaseSynthesizer, ResponseMode, get_response_synthesizer
from llama_index.core.response_synthesizers.context_only import ContextOnly
from llama_index.core.response_synthesizers.no_text import NoText
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.confidence import collected_confidence, collected_intent
from llama_index.hopweave.failures import collected_failures, report
from llama_index.hopweave.knowledge import opened
from llama_index.hopweave.nodes import to_hit, to_node, visible_nodes
from llama_index.hopweave.questions import tenant_of
from llama_index.postprocessor.hopweave import postprocessor_for
from llama_index.query_engine.hopweave.gate import GateQueryEngine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer
from llama_index.response_synthesizers.hopweave.context_builder import Build
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave.context.context_builder import Context, ContextBuilder
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import checked_tenant
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe, load_recipe
from hopweave.recipes import DEFAULT_RECIPE

_WITHOUT_LLM: Mapping[str, type[BaseSynthesizer]] = {
    ResponseMode.NO_TEXT: NoText,
    ResponseMode.CONTEXT_ONLY: ContextOnly,
}


class RecipeQueryEngine(RetrieverQueryEngine):
    """
    A recipe made of LlamaIndex parts: retriever, one node postprocessor per stage, cited response synthesis.

    The response's metadata has the probability that the answer is among what was found under
    `["hopweave"]["confidence"]`, with its evidence, if the recipe classifies questions the intent and its weights under
    `["hopweave"]["intent"]`, and if an optional source fails, the reason under `["hopweave"]["failures"]`.
    A recipe with a neighbourhood has it as data under `["hopweave"]["neighbourhood"]`.

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
        knowledge_base: An open knowledge base, the path of its file, or `documents_in(store, graph)` for nodes in a
            store of yours. It must be given.
        llm: The language model that answers; without one, the answer is made of the best sentences.
        embed_model: The model that embeds questions, if the file alone cannot say; see `llama_index.hopweave.opened`.
        retrievers: LlamaIndex retrievers by the name of the recipe's source whose place they take; None for a source
            that is to be left out.
        similarity_top_k: How many nodes to answer from; the recipe's own number when not given.
        tenant: Metadata values a document must have to be seen at all, by retriever, stages and synthesis alike.
        now: The time to go by; the current time when not given.
        node_postprocessors: Postprocessors of yours, for the nodes that the recipe returns.
        streaming: Whether the answer is a stream.
        output_cls: Pydantic model that the language model's answer is to be; not with a stream.
        response_mode: One of LlamaIndex's own ways to answer (`refine`, `tree_summarize`, `no_text` …) instead of the
            context that the recipe asks for; then there are no citations.
        response_synthesizer: Answers instead of the one the recipe's context asks for.
        callback_manager: LlamaIndex's callback manager.
        flat_scores: Whether the metadata of nodes has the score of every step: `dense_score`, `rrf_score` …
        options: What `RecipeRetriever` takes: `filters`, `additional_retrievers`, `cache_seconds` ...

    """

    def __init__(
        self,
        recipe: str | Path | Recipe = DEFAULT_RECIPE,
        knowledge_base: Knowledge | str | Path | None = None,
        *,
        llm: LLM | None = None,
        embed_model: BaseEmbedding | None = None,
        retrievers: Mapping[str, BaseRetriever | None] | None = None,
        similarity_top_k: int | None = None,
        tenant: Mapping[str, Any] | None = None,
        now: datetime | None = None,
        node_postprocessors: Sequence[BaseNodePostprocessor] | None = None,
        streaming: bool = False,
        output_cls: type[BaseModel] | None = None,
        response_mode: ResponseMode | str | None = None,
        response_synthesizer: BaseSynthesizer | None = None,
        callback_manager: CallbackManager | None = None,
        flat_scores: bool = False,
        **options: Any,
    ) -> None:
        """Build the parts."""
        if knowledge_base is None:
            raise ValueError(
                "knowledge_base: must be an open knowledge base, the path of its file, or documents_in(store, graph), "
                "but got None"
            )
        self._flat_scores = flat_scores
        self.recipe = load_recipe(recipe)
        knowledge = opened(knowledge_base, embed_model)
        self._similarity_top_k = similarity_top_k or self.recipe.planned_top_k
        retriever = RecipeRetriever(
            knowledge,
            recipe=self.recipe,
            retrievers=retrievers,
            similarity_top_k=similarity_top_k,
            tenant=tenant,
            now=now,
            stages=False,
            **options,
        )
        self._tenant = checked_tenant(tenant)
        self._own_postprocessors = list(node_postprocessors or ())
        answering = _Answering(llm, streaming, output_cls, response_mode)
        super().__init__(
            retriever,
            answering.checked(response_synthesizer)
            or answering.synthesizer(_Reporting(Pipeline(self.recipe, knowledge)).context, tenant, callback_manager),
            [
                postprocessor_for(stage, knowledge_base=knowledge, tenant=tenant, now=now)
                for stage in self.recipe.stages
            ],
            callback_manager,
        )
        for one in self._own_postprocessors:
            one.callback_manager = self.callback_manager

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with _collected() as stated:
            return _with_metadata(super()._query(query_bundle), **stated)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with _collected() as stated:
            return _with_metadata(await super()._aquery(query_bundle), **stated)

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The nodes that the recipe finds, best first, as your postprocessors leave them."""
        nodes = super().retrieve(query_bundle)[: self._similarity_top_k]
        for one in self._own_postprocessors:
            nodes = one.postprocess_nodes(nodes, query_bundle=query_bundle)
        return self._finished(visible_nodes(nodes, tenant_of(query_bundle, self._tenant)))

    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """The same without blocking the event loop."""
        nodes = (await super().aretrieve(query_bundle))[: self._similarity_top_k]
        for one in self._own_postprocessors:
            nodes = await one.apostprocess_nodes(nodes, query_bundle=query_bundle)
        return self._finished(visible_nodes(nodes, tenant_of(query_bundle, self._tenant)))

    def _finished(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        return [to_node(to_hit(node), flat_scores=True) for node in nodes] if self._flat_scores else nodes


_neighbourhood: ContextVar[dict[str, Any] | None] = ContextVar("neighbourhood", default=None)


@dataclass(frozen=True)
class _Reporting:
    """The last step of a recipe; what it says beside the context goes into the metadata of the response."""

    pipeline: Pipeline

    def context(self, question: Query, hits: Sequence[Hit]) -> Context:
        """The context."""
        result = self.pipeline.finish(question, hits)
        report(result.failures)
        stated = _neighbourhood.get()
        if stated is not None and result.neighbourhood is not None:
            stated.update(result.neighbourhood.as_dict())
        return result.context or ContextBuilder().build(hits)


@dataclass(frozen=True)
class _Answering:
    """How an answer is made of nodes."""

    llm: LLM | None
    streaming: bool
    output_cls: type[BaseModel] | None
    mode: ResponseMode | str | None

    def __post_init__(self) -> None:
        if self.mode is not None and self.mode not in list(ResponseMode):
            allowed = ", ".join(mode.value for mode in ResponseMode)
            raise ValueError(f"response_mode: {self.mode!r} is not allowed; it must be one of {allowed}")
        if self.llm is None and self.output_cls is not None:
            raise ValueError("output_cls: needs a language model, llm=...")
        if self.llm is None and self.mode is not None and self.mode not in _WITHOUT_LLM:
            raise ValueError(f"response_mode: {self.mode!r} needs a language model, llm=...")
        if self.streaming and self.output_cls is not None:
            raise ValueError("output_cls: is not allowed with streaming=True")

    def checked(self, response_synthesizer: BaseSynthesizer | None) -> BaseSynthesizer | None:
        """The synthesizer given; an error if it was also said how to answer, as it would not hear of that."""
        said = {"streaming": self.streaming, "output_cls": self.output_cls, "response_mode": self.mode}
        if response_synthesizer is not None and (ignored := [name for name, value in said.items() if value]):
            raise ValueError(f"{ignored[0]}: is not allowed with response_synthesizer; give it to the synthesizer")
        return response_synthesizer

    def synthesizer(
        self, context: Build, tenant: Mapping[str, Any] | None, callback_manager: CallbackManager | None
    ) -> BaseSynthesizer:
        """What answers: LlamaIndex's own way if one was named, else from the context, with citations."""
        common: dict[str, Any] = {"streaming": self.streaming, "callback_manager": callback_manager}
        if (
            self.mode is not None and self.mode in _WITHOUT_LLM
        ):  # LlamaIndex's factory would look for an LLM that is never asked
            return _WITHOUT_LLM[self.mode](MockLLM(), **common)
        if self.mode is not None:
            return get_response_synthesizer(
                self.llm, response_mode=ResponseMode(self.mode), output_cls=self.output_cls, **common
            )
        if self.llm is None:
            return ExtractiveAnswerSynthesizer(context=context, tenant=tenant, **common)
        return ContextBuilderSynthesizer(self.llm, context=context, tenant=tenant, output_cls=self.output_cls, **common)


@contextmanager
def _collected() -> Iterator[dict[str, dict[str, Any]]]:
    """What the parts of the engine report meanwhile, by its name in the metadata of the response."""
    around: dict[str, Any] = {}
    token = _neighbourhood.set(around)
    try:
        with collected_failures() as failures, collected_confidence() as confidence, collected_intent() as intent:
            yield {"failures": failures, "confidence": confidence, "intent": intent, "neighbourhood": around}
    finally:
        _neighbourhood.reset(token)


def _with_metadata(response: RESPONSE_TYPE, **stated: dict[str, Any]) -> RESPONSE_TYPE:
    known = {name: value for name, value in stated.items() if value}
    if known:
        metadata = response.metadata or {}
        response.metadata = {**metadata, "hopweave": {**metadata.get("hopweave", {}), **known}}
    return response


def load_query_engine(
    recipe: str | Path | Recipe = DEFAULT_RECIPE,
    knowledge_base: Knowledge | str | Path | None = None,
    *,
    llm: LLM | None = None,
    **options: Any,
) -> BaseQueryEngine:
    """
    A query engine from a recipe: by the name of a shipped one, or from your own YAML file.

    ```python
    from llama_index.query_engine.hopweave import load_query_engine

    engine = load_query_engine("multihop", "hopweave.db")
    print(engine.query("When does the tide gate open?"))
    ```

    Args:
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
        knowledge_base: An open knowledge base, the path of its file, or `documents_in(store, graph)` for nodes in a
            store of yours. It must be given.
        llm: The language model that answers; without one, the answer is made of the best sentences.
        options: What `RecipeQueryEngine` takes: `retrievers`, `similarity_top_k`, `node_postprocessors`, `streaming`,
            `response_mode`, `output_cls`, `filters`, `tenant`, `now` ...

    Returns:
        The engine, behind a gate if the recipe has one.

    """
    recipe = load_recipe(recipe)
    engine = RecipeQueryEngine(recipe.model_copy(update={"gate": None}), knowledge_base, llm=llm, **options)
    return engine if recipe.gate is None else GateQueryEngine(engine, recipe.gate, llm=llm)
