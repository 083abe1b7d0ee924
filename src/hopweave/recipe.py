"""Recipes: sources, a fuser, stages, described in YAML and valid by construction."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

import hopweave.component
from hopweave.catalogue import CATALOGUE
from hopweave.component import Component, Fuser, Source, Stage
from hopweave.context.assemble import ContextBuilder
from hopweave.errors import RecipeError, explain
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.graph.pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

__all__ = ["CATALOGUE", "Recipe", "load_recipe", "recipe_names", "recipe_schema", "register"]

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
    description: str = Field("", description="What it is good for.")
    gate: Gate | None = Field(None, description="Whether a message needs retrieval at all.")
    intent: IntentClassifier | None = Field(None, description="What kind of answer the question is after.")
    plan: Planner | None = Field(None, description="Which of the sources run for a question.")
    sources: dict[str, Source] = Field(min_length=1, description="Sources by name.")
    fuse: Fuser = Field(default_factory=ReciprocalRank, description="How the rankings become one.")
    stages: tuple[Stage, ...] = Field((), description="What happens to the fused hits, in order.")
    paths: FlowPruning | None = Field(None, description="Which paths between the hits to tell.")
    neighbourhood: ServiceNeighbourhood | None = Field(
        None, description="Which services around those of the hits to tell."
    )
    context: ContextBuilder | None = Field(None, description="How the hits become a cited context.")
    top_k: int = Field(10, ge=1, description="How many hits to return.")

    @model_validator(mode="after")
    def _needs_exist(self) -> "Recipe":
        for name, source in self.sources.items():
            for needed in source.needs:
                if needed not in self.sources or needed == name:
                    others = ", ".join(other for other in self.sources if other != name)
                    raise ValueError(f"source {name!r} needs source {needed!r}; there are {others or 'no others'}")
        _waves(self.sources)
        self.fuse.check_sources(self.sources)
        return self

    @property
    def waves(self) -> list[list[str]]:
        """Names of the sources in groups that can run side by side, each after the groups it needs."""
        return _waves(self.sources)

    @classmethod
    def from_yaml(cls, text: str, origin: str = "recipe") -> "Recipe":
        """Read a recipe from YAML; faults name the key, the value and what is allowed."""
        try:
            data = yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise RecipeError(f"{origin}: is not YAML: {error}") from error
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


def _waves(sources: Mapping[str, Source]) -> list[list[str]]:
    waves: list[list[str]] = []
    waiting = dict(sources)
    while waiting:
        ready = [name for name, source in waiting.items() if not set(source.needs) & waiting.keys()]
        if not ready:
            raise ValueError(f"sources need one another in a circle: {', '.join(waiting)}")
        waves.append(ready)
        waiting = {name: source for name, source in waiting.items() if name not in ready}
    return waves
