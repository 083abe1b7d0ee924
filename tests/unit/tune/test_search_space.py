import pytest

from hopweave.errors import RecipeError
from hopweave.recipe import Recipe, load_recipe
from hopweave.tune.search_space import Parameter, parameter, parameters, tunable, with_values

FRESH = Recipe.from_yaml("""
name: fresh
sources: {text: {kind: bm25}, vector: {kind: vector}}
fuse: {kind: reciprocal_rank, weights: {text: 3}}
stages:
  - {kind: freshness, weight: 0.2}
  - {kind: remote_rerank, provider: jina}
""")


def test_weights_are_searched_up_to_the_largest():
    weights = [one for one in tunable(FRESH) if one.path.startswith("fuse")]
    assert weights == [
        Parameter("fuse.weights.text", 0.0, 3.0, 3.0),
        Parameter("fuse.weights.vector", 0.0, 3.0, 1.0),  # what is not given counts 1
    ]


def test_bounded_shares_of_sources_and_stages_but_no_time_limits():
    paths = [one.path for one in tunable(FRESH)]
    assert "stages.0.weight" in paths
    assert "stages.1.blend" in paths
    assert "stages.1.deadline_seconds" not in paths
    assert "stages.1.max_retries" not in paths
    walk = load_recipe("multihop").sources["graph"].changed(restart=0.3, passage_mass_linked=0.2)
    recipe = Recipe(name="walk", sources={"text": FRESH.sources["text"], "graph": walk.changed(seeds_from=["text"])})
    found = {one.path: (one.low, one.high, one.start) for one in tunable(recipe)}
    assert found["sources.graph.restart"] == (0.001, 1.0, 0.3)  # 0 is not allowed
    assert found["sources.graph.passage_mass_linked"] == (0.0, 1.0, 0.2)


def test_a_single_source_has_no_weights_to_tune():
    assert tunable(Recipe.from_yaml("{name: words, sources: {text: {kind: bm25}}}")) == []


def test_weights_that_the_intent_decides_are_left_to_it():
    assert tunable(load_recipe("weighted")) == []


def test_weights_of_intents_are_tuned_where_the_fuser_goes_by_them():
    knowledge = load_recipe("knowledge")
    found = {one.path: (one.low, one.high, one.start) for one in tunable(knowledge, ["debugging"])}
    assert {path: one for path, one in found.items() if path.startswith("intent")} == {
        "intent.weights.debugging.embedding": (0.0, 1.0, 0.3),
        "intent.weights.debugging.graph": (0.0, 1.0, 0.2),
        "intent.weights.debugging.intent_edges": (0.0, 1.0, 0.05),
        "intent.weights.debugging.text": (0.0, 1.0, 0.45),
    }
    assert not [one for one in tunable(load_recipe("multihop"), ["debugging"]) if one.path.startswith("intent")]
    named = [one.path for one in parameters(knowledge, "intent.weights.semantic")]
    assert named == [f"intent.weights.semantic.{one}" for one in ("embedding", "graph", "intent_edges", "text")]
    assert parameter(knowledge, "intent.weights.semantic.text=0:0.5").high == 0.5
    with pytest.raises(RecipeError, match=r"no number at 'intent.weights.semantics'"):
        parameters(knowledge, "intent.weights.semantics=0:1")


def test_a_changed_weight_of_an_intent_leaves_the_others_in_proportion():
    recipe = with_values(load_recipe("knowledge"), {"intent.weights.debugging.text": 0.55})  # of 1.1 in all
    intent = recipe.intent.classify("fix the crash")
    assert intent.weights == pytest.approx(
        {"embedding": 0.3 / 1.1, "text": 0.5, "graph": 0.2 / 1.1, "intent_edges": 0.05 / 1.1}
    )
    assert recipe.intent.classify("what are the tools").weights == load_recipe("knowledge").intent.weights_of(
        "exploratory"
    )
    assert Recipe.from_yaml(recipe.to_yaml()) == recipe


@pytest.mark.parametrize(
    ("text", "low", "high", "start", "whole"),
    [
        ("fuse.weights.vector", 0, 3, 1, False),
        ("fuse.k=1:100", 1, 100, 60, False),
        ("sources.text.top_k=5:50", 5, 50, 50, True),
        ("stages.0.weight", 0, 1, 0.2, False),
        ("stages.0.half_life_days=1:1e3", 1, 1000, 90, False),
    ],
)
def test_parameters_as_they_are_typed(text, low, high, start, whole):
    assert parameter(FRESH, text) == Parameter(text.partition("=")[0], low, high, start, whole)


def test_values_of_a_mapping_can_be_tuned_too():
    recipe = with_values(load_recipe("multihop"), {"sources.graph.edge_type_weights.about": 0.25})
    found = parameter(recipe, "sources.graph.edge_type_weights.about=0.01:1")
    assert found == Parameter("sources.graph.edge_type_weights.about", 0.01, 1.0, 0.25)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("fuse.k", "fuse.k has no bounds of its own: write fuse.k=low:high"),
        ("fuse.k=1", "write path, or path=low:high"),
        ("", "write path, or path=low:high"),
        ("fuse.k=a:2", "'a' is not a number"),
        ("fuse.k=2:1", "the lower bound must be below the upper one"),
        ("fuse.k=0:2", "fuse.k: 0.0 is not allowed here: k: 0.0 is not allowed: input should be greater than 0"),
        ("stages.0.weight=0:2", "weight: 2.0 is not allowed: input should be less than or equal to 1"),
        ("fuse.nothing=0:1", "the recipe 'fresh' has no number at 'fuse.nothing'"),
        ("name=0:1", "has no number at 'name'"),
        ("sources.text.optional=0:1", "has no number at 'sources.text.optional'"),
        ("stages.7.weight=0:1", "has no number at 'stages.7.weight'"),
        ("sources.lost.top_k=1:2", "has no number at 'sources.lost.top_k'"),
    ],
)
def test_bad_parameters(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        parameter(FRESH, text)


def test_values_are_set_where_they_belong_and_nowhere_else():
    values = {"fuse.weights.vector": 0.5, "stages.0.weight": 0.7, "sources.text.top_k": 7}
    changed = with_values(FRESH, values)
    assert (changed.fuse.weights, changed.stages[0].weight, changed.sources["text"].top_k) == (
        {"text": 3.0, "vector": 0.5},
        0.7,
        7,
    )
    assert changed.stages[1:] == FRESH.stages[1:]
    assert FRESH.fuse.weights == {"text": 3.0}
    assert with_values(FRESH, {}) == FRESH


def test_a_recipe_is_written_with_its_new_values():
    changed = with_values(FRESH, {"stages.0.weight": 0.7})
    assert Recipe.from_yaml(changed.to_yaml()) == changed


def test_bounds_hold():
    with pytest.raises(RecipeError, match=r"stages\.0\.weight: 1\.5 is not allowed here"):
        with_values(FRESH, {"stages.0.weight": 1.5})
