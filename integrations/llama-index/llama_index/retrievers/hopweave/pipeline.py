"""Retrievers that let the core's pipeline do the work."""

from collections.abc import Collection, Mapping
from copy import copy
from datetime import datetime
from inspect import Parameter, signature
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilters
from llama_index.hopweave.confidence import report_confidence, report_intent
from llama_index.hopweave.failures import report
from llama_index.hopweave.filters import to_predicate
from llama_index.hopweave.nodes import to_node
from llama_index.hopweave.questions import to_query
from llama_index_instrumentation import get_dispatcher

from hopweave.metadata.filters import Filters
from hopweave.metadata.tenants import checked_fields, checked_tenant, require_tenant
from hopweave.pipeline import Pipeline, Result
from hopweave.query import Query
from hopweave.search.federated import FederatedPipeline

dispatcher = get_dispatcher(__name__)


def _check_names(retriever: type[BaseRetriever], given: Mapping[str, Any]) -> None:
    """Raise if a retriever has no parameter of a name, with those it has."""
    made_by = [one.__init__ for one in retriever.__mro__ if issubclass(one, BaseRetriever)]
    known = {name: parameter for init in made_by for name, parameter in signature(init).parameters.items()}
    allowed = [name for name, one in known.items() if name != "self" and one.kind != Parameter.VAR_KEYWORD]
    for name in given:
        if name not in signature(BaseRetriever.__init__).parameters:
            raise TypeError(f"{retriever.__name__}: no parameter {name!r}; allowed are {', '.join(allowed)}")


class PipelineRetriever(BaseRetriever):
    """
    Answers queries by running a pipeline of the core.

    Args:
        pipeline: The pipeline.
        similarity_top_k: How many nodes to return; the recipe's own number when not given.
        filters: LlamaIndex metadata filters, applied after fusion.
        tenant: Metadata values a document must have to be seen at all.
        tenant_required: Metadata fields for which every question needs a tenant; one without is refused.
        now: The time to go by; the current time when not given.
        stages: Whether the recipe's stages run, too; without them, everything that was found is returned.
        flat_scores: Whether the metadata of nodes has the score of every step: `dense_score`, `rrf_score` …
        kwargs: What every LlamaIndex retriever takes.

    """

    def __init__(
        self,
        pipeline: Pipeline | FederatedPipeline,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = (),
        now: datetime | None = None,
        stages: bool = True,
        flat_scores: bool = False,
        **kwargs: Any,
    ) -> None:
        """Keep the pipeline."""
        _check_names(type(self), kwargs)
        self._pipeline = pipeline
        self._similarity_top_k = similarity_top_k
        self._admits: Filters | None = to_predicate(filters)
        self._tenant = checked_tenant(tenant)
        self._tenant_required = checked_fields(tenant_required)
        self._now = now
        self._flat_scores = flat_scores
        self._run = pipeline.run if stages else pipeline.find
        self._run_async = pipeline.run_async if stages else pipeline.find_async
        super().__init__(**kwargs)

    @property
    def number(self) -> int:
        """How many nodes it returns."""
        return self._pipeline.recipe.top_k if self._similarity_top_k is None else self._similarity_top_k

    def as_part(self, number: int, filters: Filters | None) -> "PipelineRetriever":  # noqa: ARG002
        """
        The same retriever as a part of a recipe.

        Args:
            number: How many nodes are wanted at least.
            filters: The filters of the recipe. What finds by a single source looks for that many nodes that pass.

        Returns:
            This retriever, or a copy.

        """
        if number <= self.number:
            return self
        larger = copy(self)
        larger._similarity_top_k = number
        return larger

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(self._run(self._question(query_bundle), top_k=self._similarity_top_k))

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return self._nodes(await self._run_async(self._question(query_bundle), top_k=self._similarity_top_k))

    def _question(self, query_bundle: QueryBundle) -> Query:
        question = to_query(query_bundle, filters=self._admits, tenant=self._tenant, now=self._now)
        require_tenant(self._tenant_required, question.tenant, type(self).__name__)
        return question

    def _nodes(self, result: Result) -> list[NodeWithScore]:
        report(result.failures)
        report_confidence(result)
        report_intent(result)
        return [to_node(hit, flat_scores=self._flat_scores) for hit in result.hits]
