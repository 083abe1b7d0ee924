"""Documents that the best hits reach over the edge types that suit the question's intent."""

from typing import ClassVar, Literal

from hopweave.component import Rankings
from hopweave.graph.documents import graph_of
from hopweave.graph.walk.proximity import intent_edge_scores
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.sources.seeded_source import SeededSource


class IntentEdges(SeededSource):
    """Documents that the best hits reach over the edge types the question's intent prefers: 1.0 along, 0.7 against.

    Without an intent, or with one that prefers no edges, there are no hits.

    >>> IntentEdges().kind
    'intent_edges'
    """

    switch: ClassVar[str | None] = "graph"

    kind: Literal["intent_edges"] = "intent_edges"

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        graph = graph_of(knowledge, self.kind, query.tenant)
        edge_types = query.intent.edge_types if query.intent else ()
        if not edge_types:
            return []
        scores = intent_edge_scores(graph, self.seeds(graph, upstream), edge_types)
        return self.hits(graph, scores, query, knowledge)
