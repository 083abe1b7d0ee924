"""The question, and what has been understood of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal

from hopweave.hit import Hit, Vector, same_vector
from hopweave.metadata.filters import Filters, as_predicate
from hopweave.metadata.tenants import in_context
from hopweave.scores import count_of


def utc_now() -> datetime:
    """The current time in UTC: the default clock.

    >>> utc_now().tzinfo
    datetime.timezone.utc
    """
    return datetime.now(UTC)


Signal = Literal["embedding", "text", "graph", "intent_edges"]
"""The four kinds of evidence that an intent weighs against one another."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What kind of answer a question is after, and how that changes retrieval.

    `weights` are the shares of the four signals (embedding, text, graph, intent_edges); `keywords` are stems that
    count more in BM25; `edge_types` are the graph edges worth following; `rule` is the pattern that fired and
    `also` the other intents that matched. `profile` is the one of the eight intents that a finer one belongs to.
    """

    name: str
    weights: Mapping[str, float] = field(default_factory=dict)
    keywords: tuple[str, ...] = ()
    edge_types: tuple[str, ...] = ()
    rule: str | None = None
    also: tuple[str, ...] = ()
    profile: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Intent":
        """The intent with these fields, as plain data.

        >>> Intent.of({"name": "relational", "keywords": ["owner"]}).keywords
        ('owner',)
        """
        given = _fields("intent", cls, data)
        found: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
        }
        return cls(**found)

    def is_one_of(self, names: Collection[str]) -> bool:
        """Return whether this intent or its profile is among these names.

        >>> Intent("compose_workflow", profile="workflow").is_one_of(("workflow", "exploratory"))
        True
        """
        return self.name in names or self.profile in names


NO_INTENT = Intent("none", {"embedding": 0.40, "text": 0.45, "graph": 0.15, "intent_edges": 0.0})
"""What holds when intents are switched off: the plain shares of the signals, no keywords, no edges."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Which sources run for this question, and why."""

    sources: tuple[str, ...]
    complexity: str = "moderate"
    restart: float | None = None
    top_k: int | None = None
    prune_paths: bool = False
    reason: str = "the recipe's own sources"

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "Plan":
        """The plan with these fields, as plain data.

        >>> Plan.of({"sources": ["text", "graph"], "prune_paths": True}).prune_paths
        True
        >>> Plan.of({"sources": "graph"})
        Traceback (most recent call last):
            ...
        ValueError: plan.sources: must be a list of names, but got 'graph'
        """
        found = dict(_fields("plan", cls, data))
        sources, prune, top_k = found["sources"], found.get("prune_paths", False), found.get("top_k")
        if not isinstance(sources, list | tuple) or not all(isinstance(one, str) for one in sources):
            raise ValueError(f"plan.sources: must be a list of names, but got {sources!r}")
        if not isinstance(prune, bool):
            raise ValueError(f"plan.prune_paths: must be true or false, but got {prune!r}")
        if top_k is not None:
            count_of("plan.top_k", top_k)
        return cls(**{**found, "sources": tuple(sources)})


def _fields(parameter: str, kind: type[Any], data: Any) -> Mapping[str, Any]:
    """Plain data for a dataclass; an error says what is missing or unknown."""
    known = [one.name for one in fields(kind)]
    if not isinstance(data, Mapping):
        raise ValueError(f"{parameter}: must be a mapping with {', '.join(known)}, but got {data!r}")
    if unknown := [name for name in data if name not in known]:
        raise ValueError(f"{parameter}: unknown key {unknown[0]!r}; allowed are {', '.join(known)}")
    required = (one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING)
    if missing := [name for name in required if name not in data]:
        raise ValueError(f"{parameter}.{missing[0]}: required, but missing")
    return data


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question as it travels through a recipe.

    `filters` decide which documents may be returned; a walk over the graph may still start from others or pass through.
    `tenant` is hard isolation: metadata values a document must have to be seen at all, by walks too; it narrows that of
    `hopweave.tenant(...)`, if the question is asked within. `now` is the clock
    that freshness goes by; a naive time counts as UTC.
    `vector_texts` are texts whose mean vector is compared instead of that of the question, such as answers that a
    language model made up: L. Gao et al. (2023), Precise Zero-Shot Dense Retrieval without Relevance Labels (HyDE).
    `skip` switches parts of a recipe off for this question: `rerank`, `graph`, `freshness`, or the kind of a source or
    stage. With `ids_only`, sources return hits without text and metadata; a pipeline asks them so if it reads the
    documents after fusion.

    >>> Query("where does the Skua sail?", now=datetime(2026, 5, 1)).now.isoformat()
    '2026-05-01T00:00:00+00:00'
    """

    text: str
    vector: Vector | None = None
    now: datetime = field(default_factory=utc_now)
    filters: Filters | None = None
    tenant: Mapping[str, Any] | None = None
    intent: Intent | None = None
    plan: Plan | None = None
    vector_texts: tuple[str, ...] = ()
    skip: Collection[str] = ()
    ids_only: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"query: must be a string, but got {self.text!r}")
        if self.tenant is not None and not isinstance(self.tenant, Mapping):
            raise TypeError(f"tenant: must be a mapping of metadata fields to values, but got {self.tenant!r}")
        object.__setattr__(self, "tenant", in_context(self.tenant))
        if not isinstance(self.now, datetime):
            raise TypeError(f"now: must be a datetime, but got {self.now!r}")
        if isinstance(self.skip, str) or not all(isinstance(one, str) for one in self.skip):
            raise TypeError(f"skip: must be a list of names such as ['rerank'], but got {self.skip!r}")
        object.__setattr__(self, "skip", tuple(sorted(set(self.skip))))
        if self.now.tzinfo is None:
            object.__setattr__(self, "now", self.now.replace(tzinfo=UTC))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Query):
            return NotImplemented
        return same_vector(self.vector, other.vector) and (
            (self.text, self.now, self.filters, self.tenant, self.intent, self.plan, self.vector_texts, self.skip)
            == (
                other.text,
                other.now,
                other.filters,
                other.tenant,
                other.intent,
                other.plan,
                other.vector_texts,
                other.skip,
            )
        )

    def __hash__(self) -> int:
        return hash(self.text)

    def understood(self, *, intent: Intent | None = None, plan: Plan | None = None) -> "Query":
        """This question with an intent or a plan attached.

        >>> Query("k8s").understood(intent=Intent("exact_match")).intent.name
        'exact_match'
        """
        return replace(self, intent=intent or self.intent, plan=plan or self.plan)

    def admits(self) -> Callable[[Hit], bool]:
        """A function that says whether a hit passes this query's filters."""
        return as_predicate(self.filters)
