"""The interfaces of the components of a recipe.

A component is a frozen pydantic model: its `kind` names it in YAML, its fields are its parameters with bounds, and
one method does the work. Anything it needs from outside comes in as an argument, so a component can be shared
between threads and pipelines.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ModelWrapValidatorHandler,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema

from hopweave.concurrency.threads import run_in_thread
from hopweave.errors import Cancelled, InvalidScore, reason_of
from hopweave.hit import Hit, Receipt, Scale
from hopweave.knowledge import Capability, Knowledge, Ranking, ScoredRanking, require
from hopweave.metadata.tenants import in_tenant
from hopweave.query import Query
from hopweave.scores import by_order

logger = logging.getLogger(__name__)

T = TypeVar("T")

Rankings = Mapping[str, Sequence[Hit]]
"""Hits by the name of the source that found them."""


_ROLES: dict[type, dict[str, type["Component"]]] = {}


def _is_unknown(fault: ErrorDetails) -> bool:
    return fault["type"] == "extra_forbidden" and len(fault["loc"]) == 1


def _with_allowed(fault: ErrorDetails, model: type[BaseModel]) -> InitErrorDetails:
    kind, words, context = fault["type"], fault["msg"], fault.get("ctx")
    if _is_unknown(fault):
        context = {"allowed": ", ".join(name for name in model.model_fields if name != "kind")}
        words = "No such parameter; allowed are {allowed}"
    return InitErrorDetails(type=PydanticCustomError(kind, words, context), loc=fault["loc"], input=fault["input"])


SWITCHES = ("rerank", "graph", "freshness")
"""Groups of components that a question can switch off (`Query.skip`)."""


class Component(BaseModel):
    """A component of a recipe. `kind` names it in YAML; `switch` is the one of SWITCHES that it belongs to, if any."""

    switch: ClassVar[str | None] = None

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    kind: str

    @model_validator(mode="wrap")
    @classmethod
    def _names_allowed_parameters(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Faults as pydantic has them, but one of an unknown parameter names those that are allowed."""
        try:
            return handler(data)
        except ValidationError as error:
            if not any(_is_unknown(fault) for fault in error.errors(include_url=False)):
                raise
            faults = [_with_allowed(fault, cls) for fault in error.errors(include_url=False)]
            hidden = cls.model_config.get("hide_input_in_errors", False)
            raise ValidationError.from_exception_data(cls.__name__, faults, hide_input=hidden) from None

    def changed(self, **parameters: Any) -> Self:
        """This component with other values for some of its parameters, checked as at construction.

        >>> from hopweave.fusion.reciprocal_rank import ReciprocalRank
        >>> ReciprocalRank(weights={"text": 2}).changed(k=10)
        ReciprocalRank(kind='reciprocal_rank', k=10.0, weights={'text': 2.0})
        """
        if not parameters:
            return self
        return type(self).model_validate(
            {**{name: getattr(self, name) for name in self.model_fields_set}, **parameters}
        )

    def skipped_by(self, query: Query) -> bool:
        """Return whether a question skips this component, by its kind or its group.

        >>> from hopweave.stages.rerank.cosine_rerank import CosineRerank
        >>> CosineRerank().skipped_by(Query("ferries", skip=["rerank"]))
        True
        """
        return self.kind in query.skip or self.switch in query.skip

    @model_serializer(mode="wrap")
    def _with_kind(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"kind": self.kind, **written(self)}  # even where defaults are left out

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # A field typed as a role (Source, Stage ...) accepts every registered component of that role, distinguished
        # by `kind`; errors then name the field and the JSON Schema lists them all. Ready-made ones pass as they are.
        if cls not in _ROLES:
            return handler(source)
        choices: dict[Any, CoreSchema] = {
            kind: handler.generate_schema(component) for kind, component in sorted(_ROLES[cls].items())
        }
        if not choices:
            return core_schema.is_instance_schema(cls)
        return core_schema.no_info_wrap_validator_function(
            lambda value, read: value if isinstance(value, cls) else read(value),
            core_schema.tagged_union_schema(choices, discriminator="kind"),
            serialization=core_schema.plain_serializer_function_ser_schema(_written, info_arg=True),
        )


def _written(component: Component, info: SerializationInfo) -> dict[str, Any]:
    return component.model_dump(mode=info.mode, exclude_defaults=info.exclude_defaults)


class Source(Component, ABC):
    """A question in, ranked hits out.

    `in_memory` says that it works with this process's memory and does not wait for anybody, so that running it in a
    thread of its own would cost more than it gains. `can_fetch_more` says that a larger `top_k` may give more hits, so
    that it is asked again if filters leave too few; False for one that applies the filters or has a fixed size.
    `pointwise` says that the score of a document depends on nothing but the document and the question, so that the same
    source finds the best among some documents only. `reads_documents` says that it looks at the texts or metadata of
    documents; if none of the sources of a recipe does, only the documents that are returned are read. `requires` are
    the capabilities that the knowledge must have.
    """

    requires: ClassVar[frozenset[Capability]] = frozenset()
    in_memory: ClassVar[bool] = False
    can_fetch_more: ClassVar[bool] = True
    pointwise: ClassVar[bool] = False
    reads_documents: ClassVar[bool] = True

    top_k: int = Field(default=50, ge=1, description="How many hits to fetch.")
    optional: bool = Field(default=False, description="Carry on without this source when it fails or is too slow.")
    deadline_seconds: float | None = Field(
        default=None, gt=0, description="Give up on this source after so many seconds."
    )

    @property
    def class_name(self) -> str:
        """The class that does the work, for errors: of a retriever from outside that of the retriever."""
        return type(self).__name__

    @property
    def from_outside(self) -> bool:
        """Whether this source passes on hits of another retriever in a recipe.

        The knowledge may not have seen these; the pipeline then ranks them by those retrievers alone.
        """
        return False

    @property
    def needs(self) -> tuple[str, ...]:
        """Names of the sources that must run before this one and whose hits it is given."""
        return ()

    @property
    def without_upstream(self) -> "Source | None":
        """This source without the help of those it needs; None if it finds nothing without them."""
        return None if self.needs else self

    def check_capabilities(self, knowledge: Knowledge) -> None:
        """Raise if the knowledge lacks a capability that this source requires."""
        for needed in sorted(self.requires, reverse=True):
            require(knowledge, needed, self.kind)

    @abstractmethod
    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""

    async def search_async(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """The same without blocking the event loop."""
        return await run_in_thread(lambda: self.search(query, knowledge, upstream))


class Fetched(list[Hit]):
    """The hits of a ranking; `missing` says how many of its documents the knowledge does not have (any more).

    >>> Fetched([Hit("a")], missing=2).missing
    2
    """

    def __init__(self, hits: Iterable[Hit] = (), *, missing: int = 0) -> None:
        super().__init__(hits)
        self.missing = missing


def fetched(
    ranking: Ranking,
    knowledge: Knowledge,
    query: Query,
    stage: str,
    scale: Scale,
    by_id: Mapping[str, Mapping[str, Any]] | None = None,
    upstream: Rankings | None = None,
    **details: Any,
) -> Fetched:
    """The documents of a ranking as hits, each with a receipt that says who ranked it where.

    `details` are the same on every receipt, `by_id` holds those of each document. A document that an upstream source
    has found is not fetched again. Receipts say how many documents are `missing`, if any are.

    >>> class Shelf(Knowledge):
    ...     version = 1
    ...     def get(self, ids, *, tenant=None):
    ...         return {id: Hit(id, text="…") for id in ids}
    >>> fetched([("a", 2.5)], Shelf(), Query("?"), "bm25", "positive")[0].receipts[0].details
    {'rank': 1}
    """
    known = {hit.id: hit for hits in (upstream or {}).values() for hit in hits if hit.text or query.ids_only}
    others = [key for key, _ in ranking if key not in known]
    if not query.ids_only:
        documents = knowledge.get(others, tenant=query.tenant)
    elif isinstance(ranking, ScoredRanking):  # the knowledge has just ranked these documents itself
        documents = {key: Hit(key) for key in others}
    else:
        documents = {key: Hit(key) for key in knowledge.visible(query.tenant or {}, others)}
    found = known | documents
    missing = sum(key not in found for key, _ in ranking) if knowledge.has_all else 0
    common = {**details, "missing": missing} if missing else details
    hits = Fetched(missing=missing)
    for rank, (key, score) in enumerate(ranking, start=1):
        if (hit := found.get(key)) is not None:
            own = {"rank": rank, **common, **by_id[key]} if by_id and key in by_id else {"rank": rank, **common}
            receipts: tuple[Receipt, ...] = (Receipt(stage, None, score, own),)
            if hit.receipts and key in documents:  # those of an upstream source are its own
                receipts = (*hit.receipts, *receipts)
            hits.append(Hit(key, score, hit.text, hit.metadata, hit.vector, scale, hit.origin, receipts))
    return hits


class Fuser(Component, ABC):
    """Many named rankings in, one out. Nothing depends on the order of the names.

    `keeps_all` says that every hit of every ranking is in the result.
    """

    keeps_all: ClassVar[bool] = True

    def check_sources(self, names: Iterable[str]) -> None:
        """Raise if rankings of these names cannot be fused; a recipe asks before it is run."""

    @abstractmethod
    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:
        """Merge rankings into one, best first; a hit found by one source only stays."""

    def best(self, rankings: Rankings, query: Query, top_k: int | None = None) -> list[Hit]:
        """The first `top_k` hits of `fuse`, for whoever needs no others; a fuser may find them with less work."""
        return self.fuse(rankings, query)[:top_k]


class Staged(NamedTuple):
    """The hits that a stage returned. If it failed and was replaced, `failure` is the reason."""

    hits: list[Hit]
    failure: str | None = None


_FALLBACKS = ("original_order", "cosine")
"""Outcomes in receipts of stages that could not do their work; `reason` stands beside them."""


def of_tenant(hits: Sequence[Hit], query: Query) -> Sequence[Hit]:
    """The hits that the tenant of a question may see, whoever has brought them; all of them without a tenant.

    >>> hits = [Hit("a", metadata={"customer": "acme"}), Hit("b")]
    >>> [hit.id for hit in of_tenant(hits, Query("?", tenant={"customer": "acme"}))]
    ['a']
    """
    return hits if query.tenant is None else [hit for hit in hits if in_tenant(hit.metadata, query.tenant)]


class Stage(Component, ABC):
    """Hits in, hits out."""

    optional: bool = Field(default=False, description="Go on with the hits as they were if this stage fails.")

    @abstractmethod
    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """Rescore, reorder or drop hits; the hits handed in stay as they are."""

    async def apply_async(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.apply, hits, query, knowledge)

    def attempt(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> Staged:
        """`apply`, unless the question skips this stage; if it is optional and fails, the hits as they were.

        Hits outside the tenant of the question are dropped first. Receipts and log have the reason of a failure, and so
        has `failure`, if a stage falls back by itself too.
        """
        hits = by_order(of_tenant(hits, query))
        if self.skipped_by(query):
            return Staged(list(hits))
        try:
            return self._staged(self.apply(hits, query, knowledge))
        except Exception as error:
            return self._without(hits, error)

    async def attempt_async(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> Staged:
        """The same without blocking the event loop."""
        hits = by_order(of_tenant(hits, query))
        if self.skipped_by(query):
            return Staged(list(hits))
        try:
            return self._staged(await self.apply_async(hits, query, knowledge))
        except Exception as error:
            return self._without(hits, error)

    def _staged(self, hits: list[Hit]) -> Staged:
        last = hits[0].receipts[-1] if hits and hits[0].receipts else None
        fell_back = last is not None and last.stage == self.kind and last.details.get("outcome") in _FALLBACKS
        return Staged(hits, last.details.get("reason") if last is not None and fell_back else None)

    def _without(self, hits: Sequence[Hit], error: Exception) -> Staged:
        """Return the hits without this stage. Cancelled searches and invalid hits do not count as its failures."""
        if not self.optional or isinstance(error, Cancelled | InvalidScore):
            raise error
        reason = reason_of(error)
        logger.debug("optional stage %s failed", self.kind, exc_info=error)
        logger.warning("optional stage %s failed and was skipped: %s", self.kind, reason)
        kept = [hit.rescored(hit.score, self.kind, outcome="original_order", reason=reason) for hit in hits]
        return Staged(kept, reason)


class Embedder(Component, ABC):
    """Texts in, vectors out. Models that treat questions and documents differently override `embed_queries`.

    `model_name` identifies the model, so that vectors of different models never meet in one index.
    """

    @property
    @abstractmethod
    def model_name(self) -> str:
        """The identifier of this model's vectors."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row per text, as of a document."""

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """One row per text, as of a question."""
        return self.embed(texts)

    def embed_named(self, texts: Sequence[str], *, queries: bool = False) -> tuple[str, npt.NDArray[np.float32]]:
        """The vectors of documents, or of questions, and the name of the model that made them."""
        return self.model_name, self.embed_queries(texts) if queries else self.embed(texts)

    def embed_every(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors of documents by the name of the model; of several models if another may have to stand in."""
        return dict([self.embed_named(texts)])

    @property
    def model_names(self) -> tuple[str, ...]:
        """The names of all models whose vectors of a document are kept."""
        return (self.model_name,)

    def named_by_file(self) -> "Embedder":
        """This embedder as a file may name it that comes from elsewhere: without downloads, code or addresses."""
        return self


_ROLES.update({Source: {}, Fuser: {}, Stage: {}, Embedder: {}})


def add_role(role: type[Component]) -> None:
    """Let components of one more role be registered by their kind."""
    _ROLES.setdefault(role, {})


def register(component: type[Component]) -> None:
    """Make a component known by its `kind`. `hopweave.recipe.register` does the same for a running program."""
    role = next((role for role in _ROLES if issubclass(component, role)), None)
    kind = component.model_fields["kind"].default
    if role is None or not isinstance(kind, str):
        raise TypeError(
            f"{component.__name__} must derive from one of {', '.join(role.__name__ for role in _ROLES)} "
            "and give its `kind` a default"
        )
    known = _ROLES[role].setdefault(kind, component)
    if known is not component:
        raise ValueError(f"kind {kind!r} is taken by {known.__module__}.{known.__name__}; choose another")


def rebuild() -> None:
    """Let every field that is typed as a role accept all components registered so far."""
    for role in (Embedder, Source, Fuser, Stage):  # embedders first: the others may hold one
        for component in _ROLES[role].values():
            component.model_rebuild(force=True)


def registered(role: type[Component]) -> dict[str, type[Component]]:
    """The components of a role (Source, Fuser, Stage, Embedder) by kind."""
    return dict(sorted(_ROLES[role].items()))
