"""One ranking stays what it is."""

from typing import Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import checked


class AsFound(Fuser):
    """The ranking of one source, order and scores untouched; the other sources only lead it to its hits.

    For running a single source with all that a recipe offers: filters, deadlines, rankings that it builds on.

    >>> rankings = {"text": [Hit("a", 7.5), Hit("b", 2.0)], "vector": [Hit("c", 0.9)]}
    >>> [(hit.id, hit.score) for hit in AsFound(source="text").fuse(rankings, Query("ferries"))]
    [('a', 7.5), ('b', 2.0)]
    """

    kind: Literal["as_found"] = "as_found"
    source: str = Field(min_length=1, description="Name of the source whose ranking it is.")

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - the source has answered it
        """The hits of that source; none if it had no part."""
        return checked(rankings.get(self.source, ()))
