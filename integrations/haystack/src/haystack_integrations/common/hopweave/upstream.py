"""What other components found, as a source of a recipe."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Literal

from haystack import Document
from pydantic import ConfigDict, Field

from haystack_integrations.common.hopweave.documents import to_hit
from hopweave.component import Rankings, Source
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import in_tenant
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.scores import by_order


class Upstream(Source):
    """Documents that are there already, in their order."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    in_memory: ClassVar[bool] = True

    kind: Literal["upstream"] = "upstream"
    documents: tuple[Document, ...] = Field(default=(), description="What was found.")
    seeds_only: bool = Field(
        default=True, description="Whether they only lead to others; if not, the tenant must be allowed to see them."
    )

    @property
    def from_outside(self) -> bool:
        """Whether they stand for a source of a recipe; if not, they only lead a walk."""
        return not self.seeds_only

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """The documents as hits, whatever the question."""
        tenant = None if self.seeds_only else query.tenant  # a walk starts only from seeds that the tenant may see
        return by_order([to_hit(document) for document in self.documents if in_tenant(document.meta, tenant)])


def with_upstream(recipe: Recipe, names: Collection[str], documents: Mapping[str, list[Document]]) -> Recipe:
    """
    A recipe in which some sources are what other components found; without documents, a source is absent.

    Raises `ValueError` if the recipe has no source of a name.
    """
    for name in names:
        if name not in recipe.sources:
            known = ", ".join(recipe.sources)
            raise ValueError(f"upstream: {name!r} is no source of recipe {recipe.name!r}; its sources are {known}")
    own = {name: source for name, source in recipe.sources.items() if name not in names}
    found = {name: Upstream(documents=tuple(documents[name]), seeds_only=False) for name in names if name in documents}
    return recipe.model_copy(update={"sources": {**found, **own}})
