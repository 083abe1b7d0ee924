"""What callers send and what they get."""

import math
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

Method = Literal["vector", "keyword", "hybrid"]

_MAX_FILTERS, _MAX_VALUES, _MAX_CHARACTERS = 20, 100, 500


def _day(value: object) -> object:
    if not isinstance(value, str):
        raise ValueError("must be a date such as 2025-01-31")
    return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _storable(text: str) -> str:
    if not _is_unicode(text) or "\0" in text:
        raise ValueError("must be valid text without null characters")
    return text


def _whole(value: object) -> object:
    """In JSON Schema, 5.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wanted(value: Any) -> Any:
    for one in value if isinstance(value, list) else [value]:
        plain = one is None or isinstance(one, bool | int) or (isinstance(one, float) and math.isfinite(one))
        if not plain and not (isinstance(one, str) and len(one) <= _MAX_CHARACTERS and _is_unicode(one)):
            raise ValueError(
                f"must be text of at most {_MAX_CHARACTERS} characters, a number, true, false, null or a list"
            )
    if isinstance(value, list) and len(value) > _MAX_VALUES:
        raise ValueError(f"at most {_MAX_VALUES} values are allowed")
    return value


_ONE = [{"type": "string", "maxLength": _MAX_CHARACTERS}, *({"type": name} for name in ("number", "boolean", "null"))]
_FEW_FILTERS: dict[str, Any] = {"maxProperties": _MAX_FILTERS, "propertyNames": {"minLength": 1}}
_LIST = {"type": "array", "items": {"anyOf": _ONE}, "maxItems": _MAX_VALUES}

Name = Annotated[str, Field(min_length=1, max_length=64)]
Whole = Annotated[int, BeforeValidator(_whole)]
DocumentId = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(_storable)]
Content = Annotated[str, Field(min_length=1, max_length=1_000_000), AfterValidator(_storable)]
Day = Annotated[date, BeforeValidator(_day), Field(strict=False)]
# one check with one message, because a union reports every type it tried
Wanted = Annotated[Any, BeforeValidator(_wanted), WithJsonSchema({"anyOf": [*_ONE, _LIST]})]


class Filters(BaseModel):
    """Metadata that results must have: a value, or a list of allowed ones; and when they were written."""

    model_config = ConfigDict(extra="allow", strict=True, json_schema_extra=_FEW_FILTERS)
    __pydantic_extra__: dict[str, Wanted]

    date_from: Day | None = Field(default=None, description="Not older than this day.", examples=["2025-01-01"])
    date_to: Day | None = Field(default=None, description="Not newer than this day.", examples=["2025-12-31"])

    @model_validator(mode="before")
    @classmethod
    def _few(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > _MAX_FILTERS:
            raise ValueError(f"at most {_MAX_FILTERS} filters are allowed")
        if isinstance(given, dict) and not all(isinstance(name, str) and name and _is_unicode(name) for name in given):
            raise ValueError("the name of a field must be valid text and not empty")
        return given

    def as_hopweave(self) -> dict[str, Any] | None:
        """The same in hopweave's words."""
        wanted: dict[str, Any] = dict(self.__pydantic_extra__)
        days: dict[str, Any] = {}
        if self.date_from is not None:
            days["gte"] = self.date_from.isoformat()
        if self.date_to is not None and self.date_to < date.max:
            days["lt"] = (self.date_to + timedelta(days=1)).isoformat()  # the whole of the last day
        if days and "date" in wanted:
            days["in"] = wanted["date"] if isinstance(wanted["date"], list) else [wanted["date"]]
        return {**wanted, **({"date": days} if days else {})} or None


class SearchRequest(BaseModel):
    """A question, and how to look for answers."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"examples": [{"query": "Who leads the team that owns Kestrel?"}]},
    )

    query: str = Field(min_length=1, max_length=2000, pattern=r"\S", description="What to look for.")
    method: Method = Field(default="hybrid", description="By vectors, by words, or both.")
    limit: Whole = Field(default=10, ge=1, le=100, description="The most results to return.")
    filters: Filters = Field(default_factory=Filters)
    min_relevance_score: float = Field(
        default=0.15,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="Weaker results are left out; the best is as strong as the probability that the answer was found.",
    )
    include_citations: bool = Field(default=True, description="Whether to list the sources.")
    expand_graph: bool = Field(default=True, description="Whether to follow the graph from what was found.")
    knowledge_base: Name | None = Field(default=None, description="Which one to search; the first if not given.")
    skip: list[Literal["rerank", "graph", "freshness"]] = Field(
        default=[], max_length=3, description="Parts of the search to leave out this time, to be quicker."
    )


class Step(BaseModel):
    """One stage that touched a result, and what it made of its score."""

    stage: str
    before: float | None
    after: float | None
    details: dict[str, Any]


class Signal(BaseModel):
    """A kind of evidence and its share of the score."""

    name: str
    share: float


class Station(BaseModel):
    """A node on a path through the graph, and the edge that leads to it."""

    name: str
    edge_type: str | None
    forward: bool


class ReceiptOfResult(BaseModel):
    """Why a result has its score."""

    id: str
    signals: list[Signal] = Field(description="They add up to the relevance score.")
    path: list[Station] = Field(description="How the graph led here; empty if it did not.")
    steps: list[Step]


class SearchResult(BaseModel):
    """A passage, where it is from, and why it is here."""

    content: str
    source: str
    relevance_score: float | None
    rank: int
    metadata: dict[str, Any]
    receipt: ReceiptOfResult


class SearchResponse(BaseModel):
    """Results, best first; [n] in the synthesis is the result of rank n and the n-th citation."""

    results: list[SearchResult]
    query: str
    method_used: Method
    total_results: int
    synthesis: str | None
    citations: list[str]
    timings: dict[str, float] = Field(description="Milliseconds by step.")
    intent: str | None = Field(description="What kind of answer the question seems to be after.")
    weights: dict[str, float] | None = Field(description="Share of each signal that this intent gives it, if any.")
    confidence: float | None = Field(description="The probability that the answer is among what was found.")
    degraded: list[str] = Field(description="What did not work on the way, if anything.")


class Part(BaseModel):
    """One part of the service."""

    status: Literal["ok", "degraded", "failing", "off"]
    detail: str


class Health(BaseModel):
    """How the service is, part by part."""

    status: Literal["healthy", "degraded", "failing"]
    vector_db: list[str] = Field(description="The knowledge bases that have vectors.")
    keyword_engine: Literal["connected", "failing", "off"] = Field(description="Off if no knowledge base has words.")
    parts: dict[str, Part]


class DocumentBody(BaseModel):
    """A document as it is put under an id."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"content": "The Skua sails at six."}]}
    )

    content: Content
    source: str = Field(default="", max_length=500, description="What it is a part of, such as a file.")
    metadata: dict[str, Any] = Field(
        default={}, max_length=100, description="Anything to filter by; `title` is searched along with the text."
    )


class DocumentLine(DocumentBody):
    """A document as a line of an upload."""

    id: DocumentId


class Stored(BaseModel):
    """What became of a document. Every search that begins now finds it."""

    id: str
    status: Literal["added", "updated", "unchanged"]


class Deleted(BaseModel):
    """How many documents are gone; 0 if there were none."""

    deleted: int


class LineError(BaseModel):
    """A line of an upload that is no document."""

    line: int
    message: str


class JobStatus(BaseModel):
    """How far an upload is. Each batch can be found as soon as it is done."""

    id: str
    knowledge_base: str
    status: Literal["queued", "running", "done", "failed"]
    lines: int = Field(description="Lines that are not empty.")
    done: int = Field(description="Documents that are stored.")
    failed: int = Field(description="Lines that are no document.")
    errors: list[LineError] = Field(description="The first 100 of them.")
    created: str
    finished: str | None


class KnowledgeBaseInfo(BaseModel):
    """A knowledge base that can be searched."""

    name: str
    documents: int
    writable: bool = Field(description="Whether the caller may add and delete documents.")
    feedback: bool = Field(description="Whether it is kept which results are relevant.")


class Feedback(BaseModel):
    """Whether a result answers a question."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1, max_length=2000, pattern=r"\S")
    id: DocumentId
    relevant: bool | None = Field(description="In place of what the caller said before; null takes it back.")
    filters: Filters = Field(default_factory=Filters, description="Those of the search.")
    knowledge_base: Name | None = None


class Fault(BaseModel):
    """A field of the request that is not right."""

    field: str
    message: str


class Problem(BaseModel):
    """Why there is no answer."""

    message: str
    faults: list[Fault] = []
    request_id: str


def set_defaults(method: Method, limit: int, min_relevance_score: float) -> None:
    """What requests have that say nothing about it."""
    fields = SearchRequest.model_fields
    fields["method"].default, fields["limit"].default = method, limit
    fields["min_relevance_score"].default = min_relevance_score
    SearchRequest.model_rebuild(force=True)


_REFUSALS = {
    400: "The body cannot be read",
    401: "No valid key",
    403: "The key is not for this",
    404: "There is none of this name",
    408: "The body did not arrive in time",
    409: "The id is taken",
    413: "The body is too large",
    422: "Not JSON, or not a valid request",
    429: "Too many requests",
    503: "Too busy, too slow, or without what the method needs",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What the description says of answers that are none."""
    return {status: {"model": Problem, "description": _REFUSALS[status]} for status in statuses}
