"""Documents near the best hits of other sources."""

from typing import ClassVar, Literal

from pydantic import Field

from hopweave.component import Rankings
from hopweave.graph.documents import graph_of
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.walk.proximity import graph_boost
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.sources.seeded_source import SeededSource


class GraphBoost(SeededSource):
    """Documents near the best hits of other sources, and central in the graph: 0.7 · proximity + 0.3 · PageRank.

    Proximity sums the edges between a document and the seeds: weight · type weight, · 1.0 from a seed, · 0.7 to it.
    For the intents in `two_hop_intents`, neighbours of the best 20 count a flat 0.15.

    >>> GraphBoost().seeds_per_source
    10
    """

    switch: ClassVar[str | None] = "graph"

    kind: Literal["graph_boost"] = "graph_boost"
    two_hop_intents: tuple[str, ...] = Field(
        default=("workflow", "exploratory"),
        description="Intents, or profiles of intents, for which a second hop counts.",
    )
    edge_type_weights: dict[str, float] = Field(
        default_factory=dict, description="Weights of edge types that differ from the usual ones."
    )

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        graph = graph_of(knowledge, self.kind, query.tenant)
        scores = graph_boost(
            graph,
            self.seeds(graph, upstream),
            two_hops=query.intent is not None and query.intent.is_one_of(self.two_hop_intents),
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            central_in=knowledge.graph,
        )
        return self.hits(graph, scores, query, knowledge)
