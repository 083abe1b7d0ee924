"""A LlamaIndex retriever as a source of a recipe."""

import logging
from collections.abc import Iterable, Mapping
from copy import copy
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore
from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.hopweave.filters import Predicate
from llama_index.hopweave.nodes import to_hit
from llama_index.hopweave.questions import to_bundle
from pydantic import ConfigDict, Field

from hopweave.component import Rankings, Source
from hopweave.errors import reason_of
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.filters import Filters
from hopweave.metadata.tenants import in_tenant
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.scores import by_order

logger = logging.getLogger(__name__)


@runtime_checkable
class RecipePart(Protocol):
    """A retriever that can do what a recipe asks of a source."""

    @property
    def number(self) -> int:
        """How many nodes it returns."""
        ...

    def as_part(self, number: int, filters: Filters | None) -> BaseRetriever:
        """The same retriever for at least this number of nodes, and for as many that pass the filters."""
        ...


def check_retrievers(retrievers: Any, parameter: str = "retrievers") -> None:
    """
    Check that retrievers have names.

    Args:
        retrievers: What was given.
        parameter: Which parameter it was given for, for errors.

    Raises:
        ValueError: If it is not a mapping of names to retrievers.

    """
    if not isinstance(retrievers, Mapping):
        raise ValueError(
            f"{parameter}: must be a mapping of names to retrievers, as {{'vector': retriever}}, but got {retrievers!r}"
        )
    for name, one in retrievers.items():
        if not isinstance(one, BaseRetriever):
            raise ValueError(f"{parameter}.{name}: must be a retriever, as index.as_retriever(), but got {one!r}")


def check_capabilities(recipe: Recipe, knowledge: Knowledge, remedy: str) -> None:
    """
    Refuse a recipe that searches words or vectors where there is only a graph.

    Args:
        recipe: The recipe.
        knowledge: Where documents live.
        remedy: What to do about it.

    Raises:
        RecipeError: If a source cannot work.

    """
    if isinstance(knowledge, ExternalDocuments):
        recipe.check_capabilities(knowledge.capabilities, remedy)


def retriever_source(retriever: BaseRetriever, **options: Any) -> "RetrieverSource":
    """
    A retriever as a source that is known to give as many nodes as it does.

    Args:
        retriever: The retriever to ask.
        options: Other parameters of the source.

    Returns:
        The source.

    """
    number = {"top_k": retriever.number} if isinstance(retriever, RecipePart) else {}
    return RetrieverSource(retriever=retriever, **number, **options)


class RetrieverSource(Source):
    """
    Lets a recipe ask any LlamaIndex retriever, whatever it searches.

    How many nodes it returns is up to the retriever; one of hopweave's own is asked for more where a recipe would ask
    its source for more. Nodes that the tenant may not see are dropped. Where the retriever takes metadata filters, as
    those of a `VectorStoreIndex` do, tenant and filters are handed to its store, so that dropped nodes do not take the
    places of others; if the store refuses them or finds nothing, it is asked without.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    can_fetch_more: ClassVar[bool] = False

    kind: Literal["retriever"] = "retriever"
    retriever: BaseRetriever = Field(exclude=True, repr=False, description="The retriever to ask.")
    leads: bool = Field(
        default=True,
        description="Whether its hits lead to others, so that nodes which do not pass the filters are wanted as well.",
    )

    stands_for: Source | None = Field(
        default=None, exclude=True, repr=False, description="The source of a recipe whose place it takes."
    )

    @property
    def class_name(self) -> str:
        """The class of the retriever."""
        return type(self.retriever).__name__

    @property
    def from_outside(self) -> bool:
        """Whether it takes the place of a source of ours; further retrievers may have stores of their own."""
        return self.stands_for is not None

    def skipped_by(self, query: Query) -> bool:
        """Whether a question switches it off, or the source whose place it takes."""
        return super().skipped_by(query) or (self.stands_for is not None and self.stands_for.skipped_by(query))

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Ask the retriever."""
        found: list[NodeWithScore] = []
        refusals: list[Exception] = []
        for asked in self._questions(query):
            try:
                found = _together(found, asked.retrieve(to_bundle(query)))
            except (NotImplementedError, TypeError, ValueError) as error:
                refusals.append(error)
        self._report(refusals)
        return _visible(found or self._asked(query).retrieve(to_bundle(query)), query)

    async def search_async(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Ask the retriever without blocking the event loop."""
        if type(self.retriever)._aretrieve is BaseRetriever._aretrieve:  # which would block it
            return await super().search_async(query, knowledge, upstream)
        found: list[NodeWithScore] = []
        refusals: list[Exception] = []
        for asked in self._questions(query):
            try:
                found = _together(found, await asked.aretrieve(to_bundle(query)))
            except (NotImplementedError, TypeError, ValueError) as error:
                refusals.append(error)
        self._report(refusals)
        return _visible(found or await self._asked(query).aretrieve(to_bundle(query)), query)

    def _report(self, refusals: list[Exception]) -> None:
        """Log that the retriever does not take the filters, once for a question."""
        if refusals:
            logger.warning(
                "retriever %s does not take the filters: %s; its nodes are filtered afterwards",
                type(self.retriever).__name__,
                reason_of(refusals[0]),
            )
            logger.debug("what it says of them", exc_info=refusals[0])

    def _questions(self, query: Query) -> list[BaseRetriever]:
        """The retriever with tenant and filters, one after the other; none if it takes none or there are none.

        If its hits lead to others, it is asked with the tenant alone first, and what passes the filters comes behind.
        """
        tenant: list[Any] = [_condition(name, value) for name, value in (query.tenant or {}).items()]
        filters = [query.filters.filters] if isinstance(query.filters, Predicate) else []
        if self.leads and filters:
            alone = self._filtered(tenant) if tenant else self._asked(query)
            return [one for one in (alone, self._filtered([*tenant, *filters])) if one is not None]
        filtered = self._filtered([*tenant, *filters])
        return [] if filtered is None else [filtered]

    def _asked(self, query: Query) -> BaseRetriever:
        """The retriever; one of hopweave's own does what a recipe would ask of its source."""
        part = self.retriever
        return part.as_part(self.top_k, query.filters) if isinstance(part, RecipePart) else part

    def _filtered(self, wanted: list[Any]) -> BaseRetriever | None:
        """The retriever with these filters among its own, or None if it takes none or there are none."""
        own = getattr(self.retriever, "_filters", False)
        if not wanted or not (own is None or isinstance(own, MetadataFilters)):
            return None
        parts = [*wanted, *([] if own is None else [own])]
        filtered = copy(self.retriever)
        filtered._filters = (  # type: ignore[attr-defined]
            parts[0]
            if len(parts) == 1 and isinstance(parts[0], MetadataFilters)
            else MetadataFilters(filters=parts, condition=FilterCondition.AND)
        )
        return filtered


def _condition(name: str, value: Any) -> MetadataFilter:
    if isinstance(value, list | tuple | set | frozenset):
        return MetadataFilter(key=name, value=list(value), operator=FilterOperator.IN)
    return MetadataFilter(key=name, value=value, operator=FilterOperator.EQ)


def _together(leading: list[NodeWithScore], further: Iterable[NodeWithScore]) -> list[NodeWithScore]:
    """The first nodes, and behind them those that are not among them."""
    known = {one.node.node_id for one in leading}
    return [*leading, *(one for one in further if one.node.node_id not in known)]


def _visible(nodes: Iterable[NodeWithScore], query: Query) -> list[Hit]:
    return by_order([hit for hit in map(to_hit, nodes) if in_tenant(hit.metadata, query.tenant)])
