"""What a search found, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopweave.context.context_builder import Context
from hopweave.graph.paths.flow import Paths
from hopweave.graph.service_neighbourhood import Neighbourhoods
from hopweave.hit import Hit
from hopweave.knowledge import ALL_SEEN, Unseen
from hopweave.query import Plan, Query
from hopweave.report.page import picture
from hopweave.routing.gate import GateDecision
from hopweave.stages.filter.confidence import Confidence


@dataclass(frozen=True, slots=True)
class Result:
    """What a recipe found, how long each step took, and what went wrong on the way.

    `timings` are seconds by step; `failures` say why a source, a stage or the neighbourhood had no part; `query`
    carries the intent; `gate` decided whether to retrieve; `evidence` is that of `confidence`; `emptied_by` is the
    stage that dropped all hits; `missing` has, by source, the number of documents that it ranked and that the store of
    the documents did not have; `unseen` are documents of somebody else's retriever that the knowledge does not have, or
    has with another text.
    """

    query: Query
    hits: tuple[Hit, ...]
    plan: Plan
    timings: Mapping[str, float] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    gate: GateDecision | None = None
    context: Context | None = None
    paths: Paths | None = None
    neighbourhood: Neighbourhoods | None = None
    evidence: Confidence | None = None
    emptied_by: str | None = None
    missing: Mapping[str, int] = field(default_factory=dict)
    unseen: Unseen = ALL_SEEN

    @property
    def confidence(self) -> float | None:
        """The probability that the passages which answer the question are among the hits."""
        return None if self.evidence is None else self.evidence.probability

    def as_dict(self, *, flat_scores: bool = False) -> dict[str, Any]:
        """The result as plain JSON types; with `flat_scores`, each hit has the score of every step as a field."""
        return {
            "query": self.query.text,
            "intent": self.query.intent and self.query.intent.name,
            "gate": self.gate and {"retrieve": self.gate.retrieve, "reason": self.gate.reason},
            "hits": [{**hit.as_dict(), **(hit.scores if flat_scores else {})} for hit in self.hits],
            "weights": None if self.query.intent is None else dict(self.query.intent.weights),
            "plan": {"sources": list(self.plan.sources), "reason": self.plan.reason},
            "confidence": self.evidence and self.evidence.as_dict(),
            "emptied_by": self.emptied_by,
            "skipped": list(self.query.skip),
            "timings": dict(self.timings),
            "failures": dict(self.failures),
            "missing": dict(self.missing),
            "unseen": {"unknown": len(self.unseen.unknown), "changed": len(self.unseen.changed)},
            "context": self.context and self.context.text,
            "paths": self.paths and [path.words for path in self.paths.paths],
            "neighbourhood": self.neighbourhood and self.neighbourhood.as_dict(),
        }

    def _repr_html_(self) -> str:
        """The result as a picture, for notebooks."""
        return picture(self)
