"""Recipes: written, read and written again, they are the same; the schema accepts them and refuses what they refuse."""

import json

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.component import Fuser, Source, Stage, registered
from hopweave.errors import RecipeError
from hopweave.recipe import Recipe, load_recipe, recipe_names, recipe_schema

SCHEMA = jsonschema.Draft202012Validator(recipe_schema())


def every(role):
    return [pytest.param(component, id=kind) for kind, component in registered(role).items()]


def check_round_trip(recipe):
    written = recipe.to_yaml()
    again = Recipe.from_yaml(written)
    assert again == recipe
    assert again.to_yaml() == written
    assert Recipe.model_validate(recipe.as_dict()) == recipe
    assert Recipe.model_validate_json(recipe.model_dump_json()) == recipe
    SCHEMA.validate(yaml.safe_load(written))
    SCHEMA.validate(json.loads(recipe.model_dump_json()))


@pytest.mark.parametrize("name", recipe_names())
def test_shipped_recipes(name):
    check_round_trip(load_recipe(name))


@pytest.mark.parametrize("component", every(Stage))
def test_every_stage(component):
    check_round_trip(Recipe.model_validate({"name": "r", "sources": TEXT, "stages": [{"kind": kind_of(component)}]}))


@pytest.mark.parametrize("component", every(Source))
def test_every_source(component):
    needed = {name: {"kind": "bm25"} for name in component().needs}
    check_round_trip(Recipe.model_validate({"name": "r", "sources": {**needed, "it": {"kind": kind_of(component)}}}))


@pytest.mark.parametrize("component", every(Fuser))
def test_every_fuser(component):
    sources = {"text": {"kind": "bm25"}, "vector": {"kind": "vector"}}
    check_round_trip(Recipe.model_validate({"name": "r", "sources": sources, "fuse": {"kind": kind_of(component)}}))


TEXT = {"text": {"kind": "bm25"}}


def kind_of(component):
    return component.model_fields["kind"].default


names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
sources = st.fixed_dictionaries(
    {"kind": st.just("bm25")},
    optional={
        "top_k": st.integers(1, 1000),
        "optional": st.booleans(),
        "deadline_seconds": st.none() | st.floats(0.001, 100),
        "analyzer": st.sampled_from(["nlp", "nlp:german", "code", "light"]),
        "keyword_weight": st.floats(0, 10),
    },
)
stages = st.one_of(
    st.fixed_dictionaries({"kind": st.sampled_from(sorted(registered(Stage)))}),
    st.fixed_dictionaries({"kind": st.just("score_threshold"), "min_score": st.floats(0, 1)}),
    st.fixed_dictionaries({"kind": st.just("mmr"), "relevance_weight": st.floats(0, 1)}),
    st.fixed_dictionaries(
        {"kind": st.just("metadata_filter"), "where": st.dictionaries(names, st.integers() | names, max_size=2)}
    ),
)


@st.composite
def recipes(draw):
    chosen = draw(st.dictionaries(names, sources, min_size=1, max_size=3))
    weights = draw(st.dictionaries(st.sampled_from(sorted(chosen)), st.floats(0, 10), max_size=3))
    return {
        "name": draw(names),
        "description": draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)),
        "sources": chosen,
        "fuse": {"kind": "reciprocal_rank", "k": draw(st.floats(0.5, 100)), "weights": weights},
        "stages": draw(st.lists(stages, max_size=3)),
        "top_k": draw(st.integers(1, 500)),
    }


@settings(max_examples=60)
@given(recipes())
def test_any_recipe(data):
    check_round_trip(Recipe.model_validate(data))


@pytest.mark.parametrize(
    "name", ["no", "on", "1.5", "null", "2026-01-01", "a: b", "- x", "#x", "'", '"', "é", "&a", "*a"]
)
def test_names_that_yaml_might_take_for_something_else(name):
    check_round_trip(Recipe.model_validate({"name": name, "sources": {name: {"kind": "bm25"}}}))


@pytest.mark.parametrize(
    "data",
    [
        {"name": "r", "sources": TEXT, "colour": "blue"},
        {"name": "r", "sources": {"text": {"kind": "bm25", "topk": 1}}},
        {"name": "r", "sources": {"text": {"kind": "bm25", "top_k": 0}}},
        {"name": "r", "sources": {"text": {"kind": "bm26"}}},
        {"name": "r", "sources": {}},
        {"name": "", "sources": TEXT},
        {"sources": TEXT},
        {"name": "r", "sources": TEXT, "stages": {"kind": "mmr"}},
        {"name": "r", "sources": TEXT, "top_k": "many"},
    ],
)
def test_the_schema_refuses_what_a_recipe_refuses(data):
    with pytest.raises(RecipeError):
        Recipe.from_yaml(yaml.safe_dump(data))
    assert not SCHEMA.is_valid(data)


def test_the_schema_is_a_schema_in_which_every_parameter_says_what_it_means():
    schema = recipe_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    silent = [
        f"{name}.{parameter}"
        for name, definition in schema["$defs"].items()
        for parameter, described in definition.get("properties", {}).items()
        if parameter != "kind" and "description" not in described
    ]
    assert silent == []
