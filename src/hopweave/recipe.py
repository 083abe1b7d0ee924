"""Recipes: sources, a fuser, stages, described in YAML and valid by construction."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

import hopweave.component
from hopweave.catalogue import CATALOGUE
from hopweave.component import SWITCHES, Component, Fuser, Source, Stage, registered
from hopweave.context.context_builder import ContextBuilder
from hopweave.errors import RecipeError, UnreadableInput, explain
from hopweave.fusion.passthrough import Passthrough
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.knowledge import Capability
from hopweave.readers.limited_yaml import limited_yaml
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

__all__ = ["CATALOGUE", "Recipe", "check_skip", "load_recipe", "recipe_names", "recipe_schema", "register"]

KNOWLEDGE_BASE_NAME = r"^[\w.-]+$"
"""What a knowledge base may be called: ids of hits begin with the name and a slash."""

_FOLDER = resources.files("hopweave") / "recipes"


class Recipe(BaseModel):
    """What to run for a question: named sources, how to fuse them, what to do with the hits.

    >>> recipe = Recipe.from_yaml('''
    ... name: words
    ... sources:
    ...   text: {kind: bm25, top_k: 20}
    ... ''')
    >>> recipe.sources["text"].top_k, recipe.fuse.kind
    (20, 'reciprocal_rank')
    >>> Recipe.from_yaml(recipe.to_yaml()) == recipe
    True
    """

    # a fault may lie beside an API key, so what was given is shown by `explain`, which hides those, or not at all
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    name: str = Field(min_length=1, description="How the recipe is called.")
    description: str = Field(default="", description="What it is good for.")
    gate: Gate | None = Field(default=None, description="Whether a message needs retrieval at all.")
    intent: IntentClassifier | None = Field(default=None, description="What kind of answer the question is after.")
    plan: Planner | None = Field(default=None, description="Which of the sources run for a question.")
    sources: dict[str, Source] = Field(min_length=1, description="Sources by name.")
    fuse: Fuser = Field(default_factory=ReciprocalRank, description="How the rankings become one.")
    stages: tuple[Stage, ...] = Field(default=(), description="What happens to the fused hits, in order.")
    paths: FlowPruning | None = Field(default=None, description="Which paths between the hits to describe.")
    neighbourhood: ServiceNeighbourhood | None = Field(
        default=None, description="Which services around those of the hits to describe."
    )
    context: ContextBuilder | None = Field(default=None, description="How the hits become a cited context.")
    top_k: int = Field(default=10, ge=1, description="How many hits to return.")
    knowledge_bases: tuple[Annotated[str, Field(pattern=KNOWLEDGE_BASE_NAME)], ...] = Field(
        default=(), description="Names of the knowledge bases that are searched as one, by FederatedPipeline."
    )
    fuse_knowledge_bases: Fuser = Field(
        default=ReciprocalRank(k=1),
        description="How the rankings of several knowledge bases become one. Weights go by their names: with "
        "reciprocal_rank and a k of 1, one of weight 2 has about two hits for each of another.",
    )

    @model_validator(mode="after")
    def _needs_exist(self) -> "Recipe":
        for name, source in self.sources.items():
            for needed in source.needs:
                if needed not in self.sources or needed == name:
                    others = ", ".join(other for other in self.sources if other != name)
                    raise ValueError(f"source {name!r} needs source {needed!r}; there are {others or 'no others'}")
        _levels(self.sources)
        self.fuse.check_sources(self.sources)
        return self

    @model_validator(mode="after")
    def _knowledge_bases_are_distinct(self) -> "Recipe":
        if len(set(self.knowledge_bases)) < len(self.knowledge_bases):
            raise ValueError(f"knowledge_bases: a name occurs twice in {', '.join(self.knowledge_bases)}")
        if self.knowledge_bases:
            self.fuse_knowledge_bases.check_sources(self.knowledge_bases)
        return self

    @property
    def levels(self) -> list[list[str]]:
        """Dependency levels: names of the sources that can run side by side, each level after those it needs."""
        return _levels(self.sources)

    def depth(self, source: str, top_k: int | None = None) -> int:
        """Return how many hits a source is asked for: its own `top_k`, or that of the recipe if it is larger.

        `top_k` is how many to return, the recipe's own number when not given.
        """
        return max(self.sources[source].top_k, self.top_k if top_k is None else top_k)

    def check_capabilities(self, capabilities: Collection[Capability], remedy: str) -> None:
        """Raise if a source that is not optional needs other capabilities than these.

        >>> load_recipe("hybrid").check_capabilities({Capability.GRAPH}, "add words")
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: recipe 'hybrid': source 'text' needs words, but there is only graph: add words
        """
        for name, source in self.sources.items():
            if not source.optional and (lacking := sorted(source.requires.difference(capabilities))):
                needed, there = ", ".join(lacking), ", ".join(sorted(capabilities)) or "nothing"
                raise RecipeError(
                    f"recipe {self.name!r}: source {name!r} needs {needed}, but there is only {there}: {remedy}"
                )

    def check_one_knowledge_base(self) -> None:
        """Raise if the recipe is for several knowledge bases, where there is only one.

        >>> load_recipe("hybrid").model_copy(update={"knowledge_bases": ("a", "b")}).check_one_knowledge_base()
        Traceback (most recent call last):
            ...
        hopweave.errors.RecipeError: recipe 'hybrid' searches the knowledge bases a, b: give each by its name
        """
        if self.knowledge_bases:
            names = ", ".join(self.knowledge_bases)
            raise RecipeError(f"recipe {self.name!r} searches the knowledge bases {names}: give each by its name")

    @property
    def planned_top_k(self) -> int:
        """Return the number of hits if the caller gives none: that of the plan, or else of the recipe."""
        return (self.plan and self.plan.top_k) or self.top_k

    @classmethod
    def of_source(
        cls,
        source: Source,
        *,
        name: str | None = None,
        upstream: Mapping[str, Source] | None = None,
        intent: IntentClassifier | None = None,
        top_k: int | None = None,
    ) -> "Recipe":
        """A recipe of one source, whose ranking is left as it is.

        `upstream` are the sources that it builds on, by the names it knows them under; `name` (its kind when not given)
        is what it is called, and `top_k` (its own when not given) how many hits to return.

        >>> from hopweave.sources.bm25 import BM25
        >>> recipe = Recipe.of_source(BM25(top_k=3))
        >>> list(recipe.sources), recipe.fuse.kind, recipe.top_k
        (['bm25'], 'passthrough', 3)
        """
        name = name or source.kind
        return cls(
            name=name,
            intent=intent,
            sources={**(upstream or {}), name: source},
            fuse=Passthrough(source=name),
            top_k=source.top_k if top_k is None else top_k,
        )

    @classmethod
    def from_yaml(cls, text: str, origin: str = "recipe") -> "Recipe":
        """Read a recipe from YAML; faults name the key, the value and what is allowed."""
        try:
            data = limited_yaml(text)
        except UnreadableInput as error:
            raise RecipeError(f"{origin}: is not usable YAML: {error}") from error
        if not isinstance(data, dict):
            raise RecipeError(f"{origin}: must be a mapping with the keys {', '.join(cls.model_fields)}")
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise RecipeError(f"{origin}: {explain(error)}") from error

    def to_yaml(self) -> str:
        """The recipe as YAML, without what is at its default."""
        return yaml.safe_dump(self.as_dict(), sort_keys=False, allow_unicode=True, width=100)

    def as_dict(self) -> dict[str, Any]:
        """The recipe as plain data, without what is at its default."""
        data = self.model_dump(mode="json", exclude_defaults=True)
        data["fuse"] = self.fuse.model_dump(mode="json", exclude_defaults=True)
        return {name: data[name] for name in type(self).model_fields if name in data}


def load_recipe(recipe: str | Path | Recipe) -> Recipe:
    """A recipe by the name of a shipped one, from a YAML file, or as it is.

    >>> load_recipe("hybrid").name
    'hybrid'
    >>> load_recipe("hybird")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hopweave.errors.RecipeError: there is no recipe 'hybird' and no such file; shipped are hybrid, ...
    """
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str | Path):
        raise TypeError(
            f"recipe: must be the name of a shipped recipe, the path of a YAML file or a Recipe, but got {recipe!r}"
        )
    if str(recipe) in recipe_names():
        return _shipped(str(recipe))
    try:
        return Recipe.from_yaml(Path(recipe).read_text(encoding="utf-8"), str(recipe))
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, FileNotFoundError):
            raise RecipeError(
                f"there is no recipe {str(recipe)!r} and no such file; shipped are {', '.join(recipe_names())}"
            ) from error
        raise RecipeError(f"{recipe}: cannot be read: {error}") from error


@cache
def _shipped(name: str) -> Recipe:
    return Recipe.from_yaml((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"), name)


def recipe_names() -> list[str]:
    """The names of the recipes that come with hopweave.

    >>> "hybrid" in recipe_names()
    True
    """
    return sorted(file.name.removesuffix(".yaml") for file in _FOLDER.iterdir() if file.name.endswith(".yaml"))


def check_skip(names: Collection[str]) -> None:
    """Raise if a question skips something that there is not.

    >>> check_skip(["reranking"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: skip: 'reranking' is not allowed; allowed are rerank, graph, freshness and the kinds bm25, ...
    """
    kinds = [*registered(Source), *registered(Stage)]
    for name in names:
        if name not in SWITCHES and name not in kinds:
            raise ValueError(
                f"skip: {name!r} is not allowed; allowed are {', '.join(SWITCHES)} and the kinds {', '.join(kinds)}"
            )


def recipe_schema() -> dict[str, Any]:
    """The JSON Schema of recipes, for editors that check YAML as it is typed.

    >>> sorted(recipe_schema()["required"])
    ['name', 'sources']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Recipe.model_json_schema()}


def register(component: type[Component]) -> None:
    """Make your own source, fuser, stage or embedder known by its `kind`, so that recipes can use it.

    A package does this for its users with an entry point in the group `hopweave.components`.
    """
    hopweave.component.register(component)
    hopweave.component.rebuild()
    Recipe.model_rebuild(force=True)


def _levels(sources: Mapping[str, Source]) -> list[list[str]]:
    levels: list[list[str]] = []
    waiting = dict(sources)
    while waiting:
        ready = [name for name, source in waiting.items() if not set(source.needs) & waiting.keys()]
        if not ready:
            raise ValueError(f"sources need one another in a circle: {', '.join(waiting)}")
        levels.append(ready)
        waiting = {name: source for name, source in waiting.items() if name not in ready}
    return levels
