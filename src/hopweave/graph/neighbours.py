"""Documents next to the best hits: nearness in general, and edges that suit what the question is after."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from hopweave.component import Knowledge, Rankings, Source, fetched
from hopweave.errors import HopweaveError
from hopweave.graph.boost import graph_boost, intent_edge_scores
from hopweave.graph.csr import Graph
from hopweave.graph.documents import allowed_nodes, graph_of, passage_numbers
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.query import Query


class _Neighbours(Source):
    """Sources that start from the best hits of others."""

    in_memory: ClassVar[bool] = True

    seeds_from: tuple[str, ...] = Field(("text", "vector"), min_length=1, description="Sources whose hits are seeds.")
    seeds_per_source: int = Field(10, ge=1, description="How many of the best hits of each are seeds.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The sources whose hits are seeds."""
        return self.seeds_from

    def _seeds(self, graph: GraphPort, upstream: Rankings | None) -> list[int]:
        rankings = upstream or {}
        best = [hit.id for name in self.seeds_from for hit in list(rankings.get(name, ()))[: self.seeds_per_source]]
        return sorted(passage_numbers(graph, best).values())

    def _hits(self, graph: GraphPort, scores: Mapping[int, float], query: Query, knowledge: Knowledge) -> list[Hit]:
        nodes = graph.nodes(np.array(list(scores), np.int64))
        found = zip(nodes, scores.values(), strict=True)
        ranking = [(node.document_id, score) for node, score in found if node.document_id is not None]
        return fetched(ranking[: self.top_k], knowledge, query, self.kind, "unit")


class GraphBoost(_Neighbours):
    """Documents near the best hits of other sources, and central in the graph: 0.7 · proximity + 0.3 · PageRank.

    Proximity sums the edges between a document and the seeds: weight · type weight, · 1.0 from a seed, · 0.7 to it.
    For the intents in `two_hop_intents`, neighbours of the best 20 count a flat 0.15.

    >>> GraphBoost().seeds_per_source
    10
    """

    kind: Literal["boost"] = "boost"
    two_hop_intents: tuple[str, ...] = Field(
        ("workflow", "exploratory"), description="Intents for which a second hop counts."
    )
    edge_type_weights: dict[str, float] = Field(
        default_factory=dict, description="Weights of edge types that differ from the usual ones."
    )

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        there = graph_of(knowledge, self.kind)
        graph = there.graph
        if not isinstance(graph, Graph):
            raise HopweaveError("boost needs a graph in memory")
        scores = graph_boost(
            graph,
            self._seeds(graph, upstream),
            two_hops=query.intent is not None and query.intent.name in self.two_hop_intents,
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            allowed=allowed_nodes(query, there, graph),
        )
        return self._hits(graph, scores, query, knowledge)


class IntentEdges(_Neighbours):
    """Documents that the best hits reach over the edge types the question's intent prefers: 1.0 along, 0.7 against.

    Without an intent, or with one that prefers no edges, there are no hits.

    >>> IntentEdges().kind
    'intent_edges'
    """

    kind: Literal["intent_edges"] = "intent_edges"

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        there = graph_of(knowledge, self.kind)
        edge_types = query.intent.edge_types if query.intent else ()
        if not edge_types:
            return []
        graph = there.graph
        allowed = allowed_nodes(query, there, graph)
        scores = intent_edge_scores(graph, self._seeds(graph, upstream), edge_types, allowed=allowed)
        return self._hits(graph, scores, query, knowledge)
