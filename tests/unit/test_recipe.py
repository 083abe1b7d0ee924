from typing import Literal

import pytest
from pydantic import ValidationError

from hopweave.component import Source
from hopweave.errors import RecipeError
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.recipe import Recipe, load_recipe, recipe_names, recipe_schema
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch

WORDS = "name: words\nsources:\n  text: {kind: bm25, top_k: 20}\n"


class After(Source):
    kind: Literal["after"] = "after"
    after: tuple[str, ...] = ()

    @property
    def needs(self):
        return self.after

    def search(self, query, knowledge, upstream=None):
        return []


def test_yaml_makes_components():
    recipe = Recipe.from_yaml(WORDS)
    assert recipe.sources == {"text": BM25(top_k=20)}
    assert (recipe.fuse, recipe.stages, recipe.top_k) == (ReciprocalRank(), (), 10)


def test_what_is_at_its_default_is_not_written():
    assert Recipe.from_yaml(WORDS).as_dict() == {
        "name": "words",
        "sources": {"text": {"kind": "bm25", "top_k": 20}},
        "fuse": {"kind": "reciprocal_rank"},
    }


def test_falsy_parameters_are_kept():
    recipe = Recipe(name="r", sources={"t": BM25(keyword_weight=0)}, fuse=ReciprocalRank(weights={"t": 0.0}))
    again = Recipe.from_yaml(recipe.to_yaml())
    assert again.sources["t"].keyword_weight == 0
    assert again.fuse.weights == {"t": 0.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WORDS + "colour: blue\n", ["colour: unknown key"]),
        ("name: r\nsources: {t: {kind: bm25, topk: 3}}", ["sources.t.bm25.topk: unknown key"]),
        ("name: r\nsources: {t: {kind: bm25, top_k: 0}}", ["sources.t.bm25.top_k: 0", "greater than or equal to 1"]),
        ("name: r\nsources: {t: {kind: bm26}}", ["sources.t.kind: 'bm26'", "bm25"]),
        ("name: r\nsources: {t: {}}", ["sources.t.kind: required"]),
        ("name: r\nsources: {t: {kind: bm25, analyzer: klingon}}", ["analyzer 'klingon' is unknown", "nlp:german"]),
        ("name: r\nsources: {}", ["sources", "at least 1"]),
        ("sources: {t: {kind: bm25}}", ["name: required"]),
        ("name: ''\nsources: {t: {kind: bm25}}", ["name", "at least 1 character"]),
        (WORDS + "top_k: 0\n", ["top_k: 0"]),
        (WORDS + "stages: [{kind: nonsense}]\n", ["stages.0.kind: 'nonsense'"]),
        (WORDS + "fuse: {kind: reciprocal_rank, k: .nan}\n", ["fuse.reciprocal_rank.k: nan", "finite"]),
        ("name: [unclosed", ["is not usable YAML"]),
        ("- a list", ["must be a mapping", "sources"]),
        ("", ["must be a mapping"]),
    ],
)
def test_faults_name_the_key_the_value_and_what_is_allowed(text, words):
    with pytest.raises(RecipeError) as caught:
        Recipe.from_yaml(text, "my.yaml")
    assert str(caught.value).startswith("my.yaml: ")
    assert all(word in str(caught.value) for word in words)


def test_all_faults_are_reported_at_once():
    with pytest.raises(RecipeError) as caught:
        Recipe.from_yaml("name: r\nsources: {t: {kind: bm25, top_k: 0, topk: 1}}\ncolour: 1")
    assert len(str(caught.value).splitlines()) == 3


def test_sources_come_in_dependency_levels():
    recipe = Recipe(
        name="r",
        sources={
            "d": After(after=("b", "c")),
            "b": After(after=("a",)),
            "a": After(),
            "c": After(),
            "e": After(after=("d",)),
        },
    )
    assert recipe.levels == [["a", "c"], ["b"], ["d"], ["e"]]


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ({"a": After(after=("b",))}, "source 'a' needs source 'b'; there are no others"),
        ({"a": After(after=("x",)), "b": After()}, "source 'a' needs source 'x'; there are b"),
        ({"a": After(after=("a",)), "b": After()}, "source 'a' needs source 'a'; there are b"),
        ({"a": After(after=("b",)), "b": After(after=("a",))}, "sources need one another in a circle: a, b"),
    ],
)
def test_needs_that_cannot_be_met_fail_at_construction(sources, message):
    with pytest.raises(ValidationError, match=message):
        Recipe(name="r", sources=sources)


def test_load_by_name_file_or_object(tmp_path):
    recipe = Recipe.from_yaml(WORDS)
    (tmp_path / "words.yaml").write_text(WORDS)
    assert load_recipe(recipe) is recipe
    assert load_recipe(tmp_path / "words.yaml") == recipe
    assert load_recipe(str(tmp_path / "words.yaml")) == recipe
    assert load_recipe("hybrid").sources.keys() >= {"text", "vector"}
    assert isinstance(load_recipe("hybrid").sources["vector"], VectorSearch)


def test_a_recipe_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(RecipeError, match=r"there is no recipe 'hybird' and no such file; shipped are .*hybrid"):
        load_recipe("hybird")
    with pytest.raises(RecipeError, match="cannot be read"):
        load_recipe(tmp_path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\xfd")
    with pytest.raises(RecipeError, match=r"bytes\.yaml: cannot be read"):
        load_recipe(tmp_path / "bytes.yaml")


@pytest.mark.parametrize("name", recipe_names())
def test_shipped_recipes_are_called_like_their_files_and_say_what_for(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description


def test_the_schema_lists_the_kinds_and_their_parameters():
    schema = recipe_schema()
    assert set(schema["required"]) == {"name", "sources"}
    assert schema["additionalProperties"] is False
    mapping = schema["properties"]["sources"]["additionalProperties"]["discriminator"]["mapping"]
    assert {"bm25", "full_text", "keyword", "vector"} <= mapping.keys()
    assert schema["$defs"]["BM25"]["properties"]["top_k"]["minimum"] == 1


def test_a_key_that_comes_twice_is_named():
    twice = "name: a\nsources: {words: {kind: bm25}, words: {kind: vector}}\n"
    with pytest.raises(RecipeError, match=r"the key 'words' comes twice in one mapping at line 2"):
        Recipe.from_yaml(twice)
    with pytest.raises(RecipeError, match=r"the key 'top_k' comes twice"):
        Recipe.from_yaml("name: a\ntop_k: 3\nsources:\n  words: {kind: bm25}\n'top_k': 8\n")


def test_keys_of_other_mappings_and_merged_ones_may_be_the_same():
    recipe = Recipe.from_yaml("name: a\nsources:\n  one: &one {kind: bm25, top_k: 3}\n  two: {<<: *one, top_k: 5}\n")
    assert [source.top_k for source in recipe.sources.values()] == [3, 5]
