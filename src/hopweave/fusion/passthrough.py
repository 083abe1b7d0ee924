"""Passthrough: the ranking of one source, unchanged."""

from typing import ClassVar, Literal

from pydantic import Field

from hopweave.component import Fuser, Rankings
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import checked


class Passthrough(Fuser):
    """The ranking of one source with its order and scores; other sources only provide rankings that it builds on.

    It runs a single source with the features of a recipe, such as filters and deadlines.

    >>> rankings = {"text": [Hit("a", 7.5), Hit("b", 2.0)], "vector": [Hit("c", 0.9)]}
    >>> [(hit.id, hit.score) for hit in Passthrough(source="text").fuse(rankings, Query("ferries"))]
    [('a', 7.5), ('b', 2.0)]
    """

    keeps_all: ClassVar[bool] = False

    kind: Literal["passthrough"] = "passthrough"
    source: str = Field(default="text", min_length=1, description="Name of the source.")

    def fuse(self, rankings: Rankings, query: Query) -> list[Hit]:  # noqa: ARG002 - the rankings are enough
        """The hits of that source; none if it did not run."""
        return checked(rankings.get(self.source, ()))
