"""The few paths that connect the best hits: evidence for a prompt, and for whoever wants to see why."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Component, Knowledge
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.paths import Paths, prune_paths
from hopweave.hit import Hit
from hopweave.scores import as_unit


class FlowPruning(Component):
    """Paths between the best hits, by reliability = 0.6 · mean node score + 0.4 · flow, both normalised.

    A unit of flow starts at each hit, is split by weighted degree in the whole graph, decays with every hop, and dies
    below `threshold`. With fewer than `fewest_hits` hits, or fewer of them found by `found_by`, there are no paths. See
    `hopweave.graph.paths`.

    >>> FlowPruning().max_endpoints
    8
    """

    kind: Literal["flow_pruning"] = "flow_pruning"
    max_endpoints: int = Field(8, ge=2, description="How many of the best hits paths begin and end at.")
    max_hops: int = Field(4, ge=1, description="The longest path.")
    threshold: float = Field(0.01, ge=0, le=1, description="A branch that carries less flow ends.")
    decay: float = Field(0.8, gt=0, le=1, description="What is left of the flow after each hop.")
    top_k: int = Field(15, ge=1, description="How many paths to keep.")
    fewest_hits: int = Field(5, ge=2, description="With fewer hits than this there is nothing to prune.")
    found_by: str | None = Field(
        None, min_length=1, description="Kind of the source whose hits count as hits for that; None counts all."
    )
    deadline_seconds: float = Field(10.0, gt=0, description="Best so far after this time.")
    edge_type_weights: dict[str, float] = Field(
        {"about": 1.0, "mentions": 1.0}, description="Weights of edge types that differ from the usual ones."
    )

    def paths(self, hits: Sequence[Hit], knowledge: Knowledge) -> Paths:
        """The best paths between these hits, the most reliable first; a hit without a score counts as the last."""
        graph = graph_of(knowledge, self.kind).graph
        hits = as_unit(hits)
        numbers = passage_numbers(graph, [hit.id for hit in hits])
        if len({hit.id for hit in hits if hit.id in numbers and self._counts(hit)}) < self.fewest_hits:
            return Paths((), finished=True)
        least = min((hit.score for hit in hits if hit.score is not None), default=1.0)
        scores = {numbers[hit.id]: least if hit.score is None else hit.score for hit in hits if hit.id in numbers}
        return prune_paths(
            graph,
            scores,
            max_endpoints=self.max_endpoints,
            max_hops=self.max_hops,
            threshold=self.threshold,
            decay=self.decay,
            top_k=self.top_k,
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            deadline_seconds=self.deadline_seconds,
        )

    def _counts(self, hit: Hit) -> bool:
        return self.found_by is None or any(receipt.stage == self.found_by for receipt in hit.receipts)
