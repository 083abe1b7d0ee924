# Written by `make fix`.
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.llms.llm import LLM
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine.retriever_query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers.base import BaseSynthesizer
from llama_index.core.response_synthesizers.type import ResponseMode
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.query_engine.hopweave.gate import GateQueryEngine
from pydantic.main import BaseModel

from hopweave.knowledge import Knowledge
from hopweave.recipe import Recipe

class RecipeQueryEngine(RetrieverQueryEngine):
    r"""
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
        recipe: str | Path | Recipe = "multihop",
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
        additional_retrievers: Mapping[str, BaseRetriever] | None = None,
        optional: Collection[str] = ...,
        cache_seconds: float | None = None,
        filters: MetadataFilters | None = None,
        tenant_required: Collection[str] = ...,
        object_map: dict[Any, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        r"""Build the parts."""
    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        r"""The nodes that the recipe finds, best first, as your postprocessors leave them."""
    async def aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        r"""The same without blocking the event loop."""

def load_query_engine(
    recipe: str | Path | Recipe = "multihop",
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
    additional_retrievers: Mapping[str, BaseRetriever] | None = None,
    optional: Collection[str] = ...,
    cache_seconds: float | None = None,
    filters: MetadataFilters | None = None,
    tenant_required: Collection[str] = ...,
    object_map: dict[Any, Any] | None = None,
    objects: list[IndexNode] | None = None,
    verbose: bool = False,
) -> BaseQueryEngine:
    r"""
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

__all__ = [
    "GateQueryEngine",
    "RecipeQueryEngine",
    "load_query_engine",
]
