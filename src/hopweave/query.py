"""The question, and what has been understood of it."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal

from hopweave.hit import Hit, Vector, same_vector
from hopweave.metadata.filters import Filters, as_predicate
from hopweave.metadata.tenants import checked_tenant


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

    def is_one_of(self, names: Collection[str]) -> bool:
        """Whether this intent or its profile is among these names.

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


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question as it travels through a recipe.

    `filters` decide which documents may be returned; a walk over the graph may still start from others or pass through.
    `tenant` is hard isolation: metadata values a document must have to be seen at all, by walks too. `now` is the clock
    that freshness goes by; a naive time counts as UTC.
    `vector_texts` are texts whose mean vector is compared instead of that of the question, such as answers that a
    language model made up: L. Gao et al. (2023), Precise Zero-Shot Dense Retrieval without Relevance Labels (HyDE).
    `skip` switches parts of a recipe off for this question: `rerank`, `graph`, `freshness`, or the kind of a source or
    stage.

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

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise TypeError(f"query: must be a string, but got {self.text!r}")
        if self.tenant is not None and not isinstance(self.tenant, Mapping):
            raise TypeError(f"tenant: must be a mapping of metadata fields to values, but got {self.tenant!r}")
        checked_tenant(self.tenant)
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
