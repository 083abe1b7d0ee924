"""Metadata filter: keeps hits of the allowed types, corpora, services or repositories."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, field_validator

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.filters import as_predicate
from hopweave.query import Query
from hopweave.scores import checked

_FIELDS = {"types": "type", "corpus_types": "corpus_type", "services": "service_name", "repos": "repo_name"}


class MetadataFilter(Stage):
    """Keeps the hits whose metadata has one of the allowed values; scores and order are unchanged.

    None allows everything, an empty list nothing. `where` takes any filter of `hopweave.metadata.filters`. A hit must
    satisfy all conditions.

    >>> hits = [Hit("a", metadata={"type": "log", "year": 1974}), Hit("b", metadata={"type": "notice"})]
    >>> [hit.id for hit in MetadataFilter(types=("log",), where={"year": {"lt": 1980}}).apply(hits, Query("ferries"))]
    ['a']
    """

    kind: Literal["metadata_filter"] = "metadata_filter"
    types: tuple[str, ...] | None = Field(default=None, description="Allowed values of `type`.")
    corpus_types: tuple[str, ...] | None = Field(default=None, description="Allowed values of `corpus_type`.")
    services: tuple[str, ...] | None = Field(default=None, description="Allowed values of `service_name`.")
    repos: tuple[str, ...] | None = Field(default=None, description="Allowed values of `repo_name`.")
    where: dict[str, Any] = Field(default_factory=dict, description="Any other filter on metadata, by field.")

    @field_validator("where")
    @classmethod
    def _operators_exist(cls, where: dict[str, Any]) -> dict[str, Any]:
        as_predicate(where)
        return where

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep the hits that are allowed, in their order."""
        allowed = {_FIELDS[name]: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}
        allowed_values, where = as_predicate(allowed), as_predicate(self.where)
        return [hit for hit in checked(hits) if allowed_values(hit) and where(hit)]
