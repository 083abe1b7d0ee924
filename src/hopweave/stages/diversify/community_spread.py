"""Community spread: boosts the best hit of each community of the graph."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.query import Query
from hopweave.scores import as_unit, checked, ranked
from hopweave.stages.adjust.adjusted import Change, adjusted


class CommunitySpread(Stage):
    """Score = score * multiplier for the best hit of each community; the others of the community stay.

    With fewer than `min_hits` hits nothing is changed. The community is read from the metadata, else from the knowledge
    base. Hits without a community or without a score are unchanged.

    >>> hits = [Hit(name, score, metadata={"community": group}) for name, score, group in
    ...         [("a", 0.80, "sea"), ("b", 0.70, "sea"), ("c", 0.68, "land"), ("d", 0.10, "air")]]
    >>> [(hit.id, round(hit.score, 3)) for hit in CommunitySpread().apply(hits, Query("transport"))]
    [('a', 0.84), ('c', 0.714), ('b', 0.7), ('d', 0.105)]
    """

    kind: Literal["community_spread"] = "community_spread"
    multiplier: float = Field(default=1.05, ge=1, description="Factor for the best hit of each community.")
    min_hits: int = Field(default=4, ge=1, description="With fewer hits than this nothing is changed.")
    field: str = Field(default="community", min_length=1, description="Metadata field that names the community.")
    clamp: bool = Field(default=False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:
        """Raise the best hit of each community."""
        hits = checked(hits)
        if len(hits) < self.min_hits:
            return hits
        community = self._communities(hits, query, knowledge)
        first: dict[str, str] = {}
        for hit in ranked(as_unit(hits)):
            if hit.score is not None and hit.id in community:
                first.setdefault(community[hit.id], hit.id)

        def change(hit: Hit, score: float) -> Change | None:
            own = community.get(hit.id)
            if own is None:
                return None
            multiplier = self.multiplier if first[own] == hit.id else 1.0
            return score * multiplier, {"community": own, "first": first[own], "multiplier": multiplier}

        return adjusted(hits, self.kind, change, clamp=self.clamp)

    def _communities(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None) -> dict[str, str]:
        named = {hit.id: str(hit.metadata[self.field]) for hit in hits if hit.metadata.get(self.field) is not None}
        missing = [hit.id for hit in hits if hit.id not in named]
        if missing and knowledge is not None and Capability.COMMUNITIES in knowledge.capabilities:
            named.update(knowledge.communities(missing, tenant=query.tenant))
        return named
