"""What sources share that start from the best hits of others."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from hopweave.component import Rankings, Source, fetched
from hopweave.graph.documents import passage_numbers
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.query import Query


class SeededSource(Source):
    """Sources that start from the best hits of others."""

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.GRAPH})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False

    seeds_from: tuple[str, ...] = Field(
        default=("text", "vector"), min_length=1, description="Sources whose hits are seeds."
    )
    seeds_per_source: int = Field(default=10, ge=1, description="How many of the best hits of each are seeds.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The sources whose hits are seeds."""
        return self.seeds_from

    def seeds(self, graph: GraphPort, upstream: Rankings | None) -> list[int]:
        """The nodes of the best hits of other sources."""
        rankings = upstream or {}
        best = [hit.id for name in self.seeds_from for hit in list(rankings.get(name, ()))[: self.seeds_per_source]]
        return sorted(passage_numbers(graph, best).values())

    def hits(self, graph: GraphPort, scores: Mapping[int, float], query: Query, knowledge: Knowledge) -> list[Hit]:
        """The documents of scored nodes as hits."""
        nodes = graph.nodes(np.array(list(scores), np.int64))
        found = zip(nodes, scores.values(), strict=True)
        ranking = [(node.document_id, score) for node, score in found if node.document_id is not None]
        return fetched(ranking[: self.top_k], knowledge, query, self.kind, "unit")
