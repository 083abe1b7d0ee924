"""The few paths that connect the best hits, as evidence for a prompt."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from hopweave.component import Component
from hopweave.errors import GraphTimeout
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.paths.flow import Paths, prune_paths
from hopweave.graph.paths.path import Path
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.scores import as_unit, ranked

logger = logging.getLogger(__name__)


class FlowPruning(Component):
    """Paths between the best hits, by reliability = 0.6 · mean node score + 0.4 · flow, both normalised.

    A unit of flow starts at each hit, is split by weighted degree in the whole graph, decays with every hop, and ends
    below `threshold`. With fewer than `min_hits` hits there are no paths. With `found_by`, the number that source
    returned counts instead. In a recipe, `paths` describes the paths between the hits at the end, and `prune` of
    the source `pagerank` drops and reranks its hits by their paths before fusion. See `hopweave.graph.paths.flow`.

    B. Chen et al. (2025), PathRAG: Pruning Graph-based Retrieval Augmented Generation with Relational Paths.

    >>> FlowPruning().max_endpoints
    8
    """

    switch: ClassVar[str | None] = "graph"

    kind: Literal["flow_pruning"] = "flow_pruning"
    max_endpoints: int = Field(default=8, ge=2, description="How many of the best hits paths begin and end at.")
    max_hops: int = Field(default=4, ge=1, description="The longest path.")
    threshold: float = Field(default=0.01, ge=0, le=1, description="A branch that carries less flow ends.")
    decay: float = Field(default=0.8, gt=0, le=1, description="What is left of the flow after each hop.")
    top_k: int = Field(default=15, ge=1, description="How many paths to keep.")
    min_hits: int = Field(default=5, ge=2, description="With fewer hits than this there is nothing to prune.")
    found_by: str | None = Field(
        default=None,
        min_length=1,
        description="Kind of the source that must have returned so many; None counts the hits there are.",
    )
    time_budget_seconds: float = Field(default=10.0, gt=0, description="Best so far after this time.")
    edge_type_weights: dict[str, float] = Field(
        default={"about": 1.0, "mentions": 1.0}, description="Weights of edge types that differ from the usual ones."
    )

    def paths(self, hits: Sequence[Hit], knowledge: Knowledge, *, tenant: Mapping[str, Any] | None = None) -> Paths:
        """The best paths between these hits, the most reliable first; a hit without a score counts as the last.

        With a tenant, they lead only over what follows from documents that it may see. If a server that holds the graph
        takes too long, there are none, and they are not `finished`.
        """
        try:
            return self._paths(hits, graph_of(knowledge, self.kind, tenant))
        except GraphTimeout as error:
            logger.warning("flow_pruning: %s; there are no paths", error)
            return Paths((), finished=False)

    def _paths(self, hits: Sequence[Hit], graph: GraphPort) -> Paths:
        hits = as_unit(hits)
        numbers = passage_numbers(graph, [hit.id for hit in hits])
        if self._returned(hits, numbers) < self.min_hits:
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
            time_budget_seconds=self.time_budget_seconds,
        )

    def _returned(self, hits: Sequence[Hit], known: Collection[str]) -> int:
        """How many hits there are, or were when the source returned them, if its receipts say so."""
        if self.found_by is None:
            return len({hit.id for hit in hits if hit.id in known})
        said: dict[str, int] = {
            hit.id: receipt.details.get("returned", 0)
            for hit in hits
            for receipt in hit.receipts
            if receipt.stage == self.found_by and hit.id in known
        }
        return max(len(said), *said.values(), 0)

    def prune(
        self,
        hits: Sequence[Hit],
        knowledge: Knowledge,
        *,
        keep_off_path: bool = False,
        tenant: Mapping[str, Any] | None = None,
    ) -> list[Hit]:
        """The hits on a path, ranked by the reliability of the best path of each; the others are dropped.

        With `keep_off_path` they follow, their scores scaled to lie below. Without any path, all hits stay as they are.
        """
        found = self.paths(hits, knowledge, tenant=tenant)
        best: dict[str, Path] = {}
        for path in found.paths:  # the most reliable first
            best.update({key: path for key in path.document_ids if key not in best})
        on = [hit for hit in hits if hit.id in best]
        if not on and found.finished:
            return list(hits)
        if not on:
            return [hit.rescored(hit.score, self.kind, finished=False, **_trust(hit)) for hit in hits]
        pruned = [self._rescored(hit, best[hit.id].reliability, best[hit.id].words, found) for hit in on]
        least = min(path.reliability for path in best.values())
        off = [hit for hit in as_unit(hits) if hit.id not in best]  # converted together with those on a path
        kept = [self._rescored(hit, least * (hit.score or 0.0) / 2, None, found) for hit in off]
        return ranked([*pruned, *(kept if keep_off_path else ())])

    def _rescored(self, hit: Hit, score: float, path: str | None, found: Paths) -> Hit:
        return hit.rescored(score, self.kind, scale="unit", path=path, finished=found.finished, **_trust(hit))


def _trust(hit: Hit) -> dict[str, Any]:
    """What the last receipt says of trust, which fusion reads off the last receipt."""
    said = hit.receipts[-1].details if hit.receipts else {}
    return {"trust": said["trust"]} if "trust" in said else {}
