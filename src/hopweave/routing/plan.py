"""Which sources a question deserves."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, model_validator

from hopweave.component import Component
from hopweave.query import Plan, Query


class Planner(Component):
    """Judges how complex a question is by its length and the entities linked in it, and plans the sources.

    simple: under `simple_characters` characters and at most `simple_entities` entities. complex: at least
    `complex_characters` characters or more than `complex_entities` entities; paths are pruned as well. Everything
    else is moderate. A simple question may go without the graph, but need not: a question with two entities often
    takes two hops, so leaving the graph out has to be asked for. A plan never leaves a question without a source.

    >>> plan = Planner(skip_graph_when_simple=True).plan(Query("MV Skua"), entities=1, sources=["text", "graph"])
    >>> plan.complexity, plan.sources
    ('simple', ('text',))
    >>> Planner().plan(Query("MV Skua"), entities=1, sources=["text", "graph"]).sources
    ('text', 'graph')
    """

    kind: Literal["plan"] = "plan"
    simple_characters: int = Field(300, ge=0, description="A simple question is shorter than this.")
    simple_entities: int = Field(2, ge=0, description="A simple question names at most so many entities.")
    complex_characters: int = Field(1000, ge=0, description="A question this long or longer is complex.")
    complex_entities: int = Field(5, ge=0, description="A question that names more entities is complex.")
    skip_graph_when_simple: bool = Field(False, description="Whether simple questions go without the graph.")
    prune_when_complex: bool = Field(True, description="Whether complex questions get their paths pruned.")
    graph_sources: tuple[str, ...] = Field(("graph",), description="Names of the sources that walk the graph.")
    restart: float | None = Field(None, gt=0, le=1, description="Restart probability; None leaves it to the source.")
    top_k: int | None = Field(None, ge=1, description="How many hits to aim for; None leaves it to the recipe.")

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
        """The plan for a question in which so many entities were linked, out of the sources there are."""
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
