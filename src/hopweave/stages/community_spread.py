"""Let every community of the graph be heard."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, runtime_checkable

from pydantic import Field

from hopweave.component import Knowledge, Stage
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import as_unit, checked, ranked
from hopweave.stages.adjust import Change, adjusted


@runtime_checkable
class KnowsCommunities(Protocol):
    """A knowledge base that can say which community a document belongs to."""

    def communities(self, ids: Iterable[str]) -> Mapping[str, str]:
        """The community of each of these documents, as far as known."""
        ...


class CommunitySpread(Stage):
    """Score = score * multiplier for the best hit of each community; the others of the community stay.

    Nothing happens unless there are at least `min_hits` hits. The community is read from the metadata, else asked
    of the knowledge base. Hits without a community or without a score stay as they are.

    >>> hits = [Hit(name, score, metadata={"community": group}) for name, score, group in
    ...         [("a", 0.80, "sea"), ("b", 0.70, "sea"), ("c", 0.68, "land"), ("d", 0.10, "air")]]
    >>> [(hit.id, round(hit.score, 3)) for hit in CommunitySpread().apply(hits, Query("transport"))]
    [('a', 0.84), ('c', 0.714), ('b', 0.7), ('d', 0.105)]
    """

    kind: Literal["community_spread"] = "community_spread"
    multiplier: float = Field(1.05, ge=1, description="Factor for the best hit of each community.")
    min_hits: int = Field(4, ge=1, description="With fewer hits than this nothing is changed.")
    field: str = Field("community", min_length=1, description="Metadata field that names the community.")
    clamp: bool = Field(False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - the question does not matter
        """Raise the best hit of each community."""
        hits = checked(hits)
        if len(hits) < self.min_hits:
            return hits
        community = self._communities(hits, knowledge)
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

    def _communities(self, hits: Sequence[Hit], knowledge: Knowledge | None) -> dict[str, str]:
        named = {hit.id: str(hit.metadata[self.field]) for hit in hits if hit.metadata.get(self.field) is not None}
        missing = [hit.id for hit in hits if hit.id not in named]
        if missing and isinstance(knowledge, KnowsCommunities):
            named.update(knowledge.communities(missing))
        return named
