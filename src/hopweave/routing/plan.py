"""Planning: which sources to query, depending on how complex the question is."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from hopweave.component import Component
from hopweave.query import Plan, Query


class Planner(Component):
    """Rates the complexity of a question by its length and number of linked entities, and selects the sources.

    simple: under `simple_characters` characters and at most `simple_entities` entities. complex: at least
    `complex_characters` characters or more than `complex_entities` entities; paths are pruned as well. All
    others are moderate. Simple questions use the graph too unless `skip_graph_when_simple` is set, because a question
    with two entities often needs two hops. A plan always has at least one source.

    >>> plan = Planner(skip_graph_when_simple=True).plan(Query("MV Skua"), entities=1, sources=["text", "graph"])
    >>> plan.complexity, plan.sources
    ('simple', ('text',))
    >>> Planner().plan(Query("MV Skua"), entities=1, sources=["text", "graph"]).sources
    ('text', 'graph')
    """

    kind: Literal["plan"] = "plan"
    simple_characters: int = Field(default=300, ge=0, description="A simple question is shorter than this.")
    simple_entities: int = Field(default=2, ge=0, description="A simple question names at most so many entities.")
    complex_characters: int = Field(default=1000, ge=0, description="A question this long or longer is complex.")
    complex_entities: int = Field(default=5, ge=0, description="A question that names more entities is complex.")
    skip_graph_when_simple: bool = Field(default=False, description="Whether simple questions skip the graph sources.")
    prune_when_complex: bool = Field(default=True, description="Whether paths are pruned for complex questions.")
    graph_sources: tuple[str, ...] = Field(default=("graph",), description="Names of the sources that walk the graph.")
    restart: float | None = Field(
        default=None, gt=0, le=1, description="Restart probability; None: that of the source."
    )
    top_k: int | None = Field(default=None, ge=1, description="How many hits to return; None: that of the recipe.")

    @model_validator(mode="after")
    def _thresholds_in_order(self) -> "Planner":
        if self.complex_characters < self.simple_characters:
            raise ValueError(
                f"complex_characters: {self.complex_characters} must be at least simple_characters "
                f"({self.simple_characters})"
            )
        if self.complex_entities < self.simple_entities:
            raise ValueError(
                f"complex_entities: {self.complex_entities} must be at least simple_entities ({self.simple_entities})"
            )
        return self

    def plan(self, query: Query | str, entities: int, sources: Sequence[str]) -> Plan:
        """The plan for a question with this number of linked entities, given the available sources."""
        length = len(query.text if isinstance(query, Query) else query)
        complexity = self._complexity(length, entities)
        reason = f"{complexity}: {length} characters, {entities} {'entity' if entities == 1 else 'entities'}"
        chosen = tuple(sources)
        walked = any(name in self.graph_sources for name in chosen)
        if complexity == "simple" and self.skip_graph_when_simple and walked:
            without = tuple(name for name in chosen if name not in self.graph_sources)
            reason += "; without the graph" if without else "; the graph stays, as there is no other source"
            chosen = without or chosen
        prune = complexity == "complex" and self.prune_when_complex and walked
        if prune:
            reason += "; paths are pruned"
        return Plan(chosen, complexity, self.restart, self.top_k, prune, reason)

    def _complexity(self, length: int, entities: int) -> Literal["simple", "moderate", "complex"]:
        if length < self.simple_characters and entities <= self.simple_entities:
            return "simple"
        if length >= self.complex_characters or entities > self.complex_entities:
            return "complex"
        return "moderate"
