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

FIELDS: dict[str, tuple[str, ...]] = {
    "types": ("type",),
    "corpus_types": ("corpus_type",),
    "services": ("service_name", "service", "services"),
    "repos": ("repo_name", "repo", "repos"),
}
"""By parameter: the metadata fields that may hold such a value."""


class MetadataFilter(Stage):
    """Keeps the hits whose metadata has one of the allowed values; scores and order are unchanged.

    None allows everything, an empty list nothing. A service is looked for in the fields `service_name`, `service` and
    `services`, a repository in `repo_name`, `repo` and `repos`, unless `field_names` has others. `where` takes any
    filter of `hopweave.metadata.filters`. A hit must satisfy all conditions.

    >>> hits = [Hit("a", metadata={"type": "log", "year": 1974}), Hit("b", metadata={"type": "notice"})]
    >>> [hit.id for hit in MetadataFilter(types=("log",), where={"year": {"lt": 1980}}).apply(hits, Query("ferries"))]
    ['a']
    """

    kind: Literal["metadata_filter"] = "metadata_filter"
    types: tuple[str, ...] | None = Field(default=None, description="Allowed values of `type`.")
    corpus_types: tuple[str, ...] | None = Field(default=None, description="Allowed values of `corpus_type`.")
    services: tuple[str, ...] | None = Field(default=None, description="Allowed services.")
    repos: tuple[str, ...] | None = Field(default=None, description="Allowed repositories.")
    where: dict[str, Any] = Field(default_factory=dict, description="Any other filter on metadata, by field.")
    field_names: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Other metadata fields for types, corpus_types, services or repos; a value in any of them counts.",
    )

    @field_validator("where")
    @classmethod
    def _operators_exist(cls, where: dict[str, Any]) -> dict[str, Any]:
        as_predicate(where)
        return where

    @field_validator("field_names")
    @classmethod
    def _parameters_exist(cls, fields: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        for name, names in fields.items():
            if name not in FIELDS or not names:
                raise ValueError(f"{name!r} is not allowed, or has no fields; allowed are {', '.join(FIELDS)}")
        return fields

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep the hits that are allowed, in their order."""
        allowed = {name: values for name in FIELDS if (values := getattr(self, name)) is not None}
        fields, where = FIELDS | self.field_names, as_predicate(self.where)
        conditions = [[as_predicate({field: values}) for field in fields[name]] for name, values in allowed.items()]
        return [
            hit for hit in checked(hits) if where(hit) and all(any(passes(hit) for passes in one) for one in conditions)
        ]
