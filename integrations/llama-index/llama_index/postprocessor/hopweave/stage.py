"""Stages as node postprocessors: nodes become hits, the core does the work, hits become nodes."""

from abc import ABC
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, field_serializer
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.instrumentation.events.rerank import ReRankEndEvent, ReRankStartEvent
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.embedder import query_embeddings
from llama_index.hopweave.failures import report
from llama_index.hopweave.nodes import to_hit, to_node, visible_nodes
from llama_index.hopweave.questions import to_query
from llama_index.hopweave.vectors import stored_vectors
from llama_index_instrumentation import get_dispatcher

from hopweave.component import Stage, Staged
from hopweave.metadata.tenants import CheckedTenant
from hopweave.query import Query
from hopweave.stages.similarity.vector_finder import VectorFinder

dispatcher = get_dispatcher(__name__)


class StagePostprocessor(Stage, BaseNodePostprocessor, ABC):
    """
    What turns a stage of the core into a node postprocessor: derive from the stage and from this.

    Parameters, defaults, bounds and error messages are those of the stage.
    """

    # last in the list of bases, so its settings win: LlamaIndex sets the callback manager later
    model_config = ConfigDict(frozen=False, extra="forbid", validate_assignment=True)

    knowledge_base: Any = Field(
        default=None,
        exclude=True,
        repr=False,
        description="Knowledge base that the nodes come from, for stages that ask it.",
    )

    tenant: CheckedTenant = Field(
        default=None, description="Metadata values a node must have to be seen at all; others are dropped."
    )

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return cls.__name__

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        question = self._question(query_bundle)
        hits = [to_hit(node) for node in visible_nodes(nodes, question.tenant)]
        return self._nodes(self.attempt(hits, question, self._knowledge()))

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        question = self._question(query_bundle)
        hits = [to_hit(node) for node in visible_nodes(nodes, question.tenant)]
        return self._nodes(await self.attempt_async(hits, question, self._knowledge()))

    def _nodes(self, staged: Staged) -> list[NodeWithScore]:
        if staged.failure is not None:
            report({self.kind: staged.failure})
        return [to_node(hit) for hit in staged.hits]

    def _question(self, query_bundle: QueryBundle | None) -> Query:
        return to_query(query_bundle, tenant=self.tenant, with_embedding=True)

    def _knowledge(self) -> Any:
        return self.knowledge_base


class DatedPostprocessor(StagePostprocessor, ABC):
    """A stage that goes by the clock."""

    now: datetime | None = Field(default=None, description="The time to go by; the current time when not given.")

    @field_serializer("now")
    def _written(self, now: datetime | None) -> str | None:
        return None if now is None else now.isoformat()

    def _question(self, query_bundle: QueryBundle | None) -> Query:
        return to_query(query_bundle, tenant=self.tenant, now=self.now)


class VectorPostprocessor(StagePostprocessor, ABC):
    """
    A stage that needs vectors: those of the nodes, else of the vector store, else made in one call.

    With a knowledge base, it is asked instead of vector store and embedding model.
    """

    vector_store: Any = Field(
        default=None,
        exclude=True,
        repr=False,
        description="Where vectors are looked up that nodes do not carry: a vector store, an index, or a function "
        "from ids to vectors.",
    )
    embed_model: BaseEmbedding | None = Field(
        default=None, exclude=True, repr=False, description="Makes the vectors that are found nowhere, in one call."
    )

    def _knowledge(self) -> Any:
        if self.knowledge_base is not None:
            return self.knowledge_base
        model = self.embed_model
        sides = () if model is None else (model.get_text_embedding_batch, query_embeddings(model))
        return VectorFinder(stored_vectors(self.vector_store), *sides, lexical=self._lexical())

    def _lexical(self) -> bool:
        return False


class ComparingPostprocessor(VectorPostprocessor, ABC):
    """A stage that compares nodes with one another; receipts say where each vector came from."""

    lexical_fallback: bool = Field(
        default=True,
        description="Compare nodes for which there is no vector by their words; else they are like no other.",
    )

    def _lexical(self) -> bool:
        return self.lexical_fallback


class RerankPostprocessor(StagePostprocessor, ABC):
    """A stage that reranks, with LlamaIndex's rerank events."""

    top_n: int | None = Field(default=None, ge=1, description="Return only so many nodes; all of them when not given.")

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._instrumented(nodes, query_bundle) as reranked:
            reranked.extend(super()._postprocess_nodes(nodes, query_bundle)[: self.top_n])
        return reranked

    @dispatcher.span
    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        with self._instrumented(nodes, query_bundle) as reranked:
            reranked.extend((await super()._apostprocess_nodes(nodes, query_bundle))[: self.top_n])
        return reranked

    @contextmanager
    def _instrumented(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None
    ) -> Iterator[list[NodeWithScore]]:
        top_n = len(nodes) if self.top_n is None else self.top_n
        model = getattr(self, "model", None) or getattr(self, "provider", self.kind)  # a service has a usual model
        dispatcher.event(ReRankStartEvent(query=query_bundle, nodes=nodes, top_n=top_n, model_name=model))
        payload: dict[str, Any] = {
            EventPayload.NODES: nodes,
            EventPayload.MODEL_NAME: model,
            EventPayload.QUERY_STR: query_bundle and query_bundle.query_str,
            EventPayload.TOP_K: top_n,
        }
        reranked: list[NodeWithScore] = []
        with self.callback_manager.event(CBEventType.RERANKING, payload=payload) as event:
            yield reranked
            event.on_end(payload={EventPayload.NODES: reranked})
        dispatcher.event(ReRankEndEvent(nodes=reranked))
