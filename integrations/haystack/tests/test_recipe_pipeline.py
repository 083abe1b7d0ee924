"""Every shipped recipe as a native pipeline: same ranking as the core, YAML in the package, served by Hayhooks."""

import asyncio
from typing import Literal

import pytest
from haystack import Pipeline

from haystack_integrations.common.hopweave.native import to_component
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.recipe_pipeline import PIPELINES, to_pipeline, to_yaml
from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever, RecipeRetriever
from haystack_integrations.components.routers.hopweave import LimitsRouter
from hopweave import Document as Passage
from hopweave import KnowledgeBase, Recipe
from hopweave import Pipeline as CorePipeline
from hopweave.component import Stage
from hopweave.errors import RecipeError
from hopweave.recipe import load_recipe, recipe_names
from hopweave.stages.rerank.remote_rerank import RemoteRerank

QUESTIONS = ["Who founded the yard that built MV Skua?", "When does the tide gate open?", "How do I fix the engine?"]
NOW = "2026-05-01"

EVERYTHING = Recipe.from_yaml("""
name: everything
gate: {}
intent: {}
plan: {skip_graph_when_simple: false}
sources:
  text: {kind: bm25, top_k: 4}
  vector: {kind: vector, top_k: 4, optional: true}
fuse: {kind: weighted}
stages:
  - {kind: corpus_boost, corpus_type_field: type, rules: [{phrases: [fix], corpus_types: [manual], multiplier: 1.3}]}
  - {kind: time_decay, timestamp_field: year}
  - {kind: importance}
  - {kind: length}
  - {kind: score_threshold, min_score: 0.01}
  - {kind: mmr, relevance_weight: 0.6}
  - {kind: deferral}
  - {kind: deferral, max_similarity: 0.5}
context: {budget_tokens: 60}
top_k: 3
""")


def last_documents(pipeline, asked):
    result = pipeline.run(asked, include_outputs_from=set(pipeline.graph.nodes))
    steps = [name for name in pipeline.graph.nodes if "documents" in result.get(name, {})]
    leaves = [name for name in steps if not any(after in steps for after in pipeline.graph.successors(name))]
    return result[leaves[0]]["documents"]


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("recipe", [*recipe_names(), EVERYTHING], ids=str)
def test_a_native_pipeline_ranks_as_the_core_does(recipe, question, file):
    with KnowledgeBase.open(file, read_only=True) as kb:
        core = kb.search(question, recipe=recipe).hits
    found = last_documents(to_pipeline(recipe, file), {"query": question})
    assert [one.id for one in found] == [hit.id for hit in core]
    assert [one.score for one in found] == pytest.approx([hit.score for hit in core], rel=1e-6)
    stages = [[receipt["stage"] for receipt in one.meta["hopweave"]["receipts"]] for one in found]
    assert stages == [[receipt.stage for receipt in hit.receipts] for hit in core]


VESSEL = {"field": "meta.type", "operator": "in", "value": ["vessel", "manual"]}
BOUNDS = {"small": {"top_k": 1}, "large": {"top_k": 60}, "filtered": {"filters": VESSEL}}
BOUNDS |= {"both": {"top_k": 2, "filters": VESSEL}}


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("recipe", [*recipe_names(), EVERYTHING], ids=str)
def test_top_k_and_filters_of_a_run_mean_what_they_mean_in_the_core(recipe, bounds, many):
    path, kb = many
    asked = {"query": "How do I fix the engine of the ferry?", **BOUNDS[bounds]}
    query = to_query(asked["query"], filters=asked.get("filters"))
    core = CorePipeline(recipe, kb).run(query, top_k=asked.get("top_k")).hits
    assert core or recipe in ("memory", "service")
    pipeline = to_pipeline(recipe, path)
    for one in (pipeline, Pipeline.loads(pipeline.dumps())):
        found = last_documents(one, asked)
        assert [one.id for one in found] == [hit.id for hit in core]
        assert [one.score for one in found] == pytest.approx([hit.score for hit in core], rel=1e-6)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Enough documents for a source to leave some out."""
    path = tmp_path_factory.mktemp("many") / "kb.db"
    kinds, verbs = ["vessel", "place", "person", "manual", "notice"], ["fixed", "built", "painted", "towed"]
    names = ["Skua", "Plover", "Tern", "Gannet", "Dunlin", "Knot", "Ruff"]
    with KnowledgeBase.open(path) as kb:
        kb.add(
            Passage(
                f"d{number}",
                f"The engine of MV {names[number % 7]} was {verbs[number % 4]} by Ingrid Falk on day {number}. "
                + "The ferry sails again. " * (number % 3),
                {"title": f"Log {number}", "type": kinds[number % 5], "year": 1900 + number},
            )
            for number in range(130)
        )
        yield str(path), kb


def test_gate_intent_plan_and_context_are_components_of_their_own(file):
    pipeline = to_pipeline(EVERYTHING, file)
    assert {"gate", "intent", "plan", "text", "vector", "fuse", "deferral", "deferral_2", "context"} <= set(
        pipeline.graph.nodes
    )
    assert pipeline.run({"query": "Good morning!"}) == {
        "gate": {"skip": "Good morning!", "reason": "greeting needs no retrieval"}
    }
    limits = {"top_k": 3, "filters": VESSEL}
    assert set(pipeline.run({"query": "Good morning!", **limits})) == {"gate"}
    with KnowledgeBase.open(file, read_only=True) as kb:
        expected = kb.search(QUESTIONS[0], recipe=EVERYTHING).context.text
    assert pipeline.run({"query": QUESTIONS[0]})["context"]["context"] == expected


PATHS = Recipe.from_yaml("""
name: paths
gate: {}
plan: {simple_entities: 0, complex_entities: 1, skip_graph_when_simple: true}
sources:
  text: {kind: bm25}
  graph: {kind: pagerank, seeds_from: [], word_source: null}
paths: {min_hits: 2, found_by: pagerank}
context: {}
""")


@pytest.mark.parametrize(
    ("question", "complexity"),
    [
        ("When does it open?", "simple"),
        ("Who built MV Skua?", "moderate"),
        ("What have MV Skua and Ingrid Falk in common?", "complex"),
    ],
)
def test_a_plan_counts_what_the_question_names_and_decides_on_walk_and_paths(question, complexity, file):
    with KnowledgeBase.open(file, read_only=True) as kb:
        core = kb.search(question, recipe=PATHS)
    pipeline = to_pipeline(PATHS, file)
    outputs = pipeline.run({"query": question}, include_outputs_from=set(pipeline.graph.nodes))
    assert outputs["plan"]["plan"]["complexity"] == core.plan.complexity == complexity
    assert outputs["plan"]["plan"]["reason"] == core.plan.reason
    assert ("graph" in outputs) == ("graph" in core.plan.sources)
    assert outputs["paths"]["paths"] == ([path.words for path in reversed(core.paths.paths)] if core.paths else [])
    assert bool(outputs["paths"]["paths"]) == (complexity == "complex")
    assert outputs["context"]["context"] == core.context.text
    assert Pipeline.loads(pipeline.dumps()).run({"query": question})["context"] == outputs["context"]


@pytest.mark.parametrize("recipe", [*recipe_names(), EVERYTHING], ids=str)
def test_yaml_there_and_back_and_alike_in_an_event_loop(recipe, file):
    pipeline = to_pipeline(recipe, file)
    again = Pipeline.loads(pipeline.dumps())
    assert again.dumps() == pipeline.dumps()
    asked = {"query": QUESTIONS[0]}
    assert again.run(asked) == pipeline.run(asked) == asyncio.run(pipeline.run_async(asked))


@pytest.mark.parametrize("name", recipe_names())
def test_the_shipped_yaml_is_that_of_the_recipe(name):
    file = PIPELINES / f"{name}.yaml"
    assert file.exists(), "run integrations/haystack/generate.py"
    assert file.read_text(encoding="utf-8") == to_yaml(name), "run integrations/haystack/generate.py"
    assert Pipeline.loads(file.read_text(encoding="utf-8")).graph.nodes


def test_no_yaml_without_a_recipe():
    assert {file.stem for file in PIPELINES.glob("*.yaml")} == set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_the_super_component_and_the_recipe_retriever_agree(name, file):
    one = RecipeRetriever(knowledge_base=file, recipe=name, top_k=3).run(query=QUESTIONS[0])["documents"]
    many = HybridGraphRetriever(knowledge_base=file, recipe=name, top_k=3).run(query=QUESTIONS[0])["documents"]
    assert [(found.id, found.score) for found in one] == [(found.id, found.score) for found in many]
    wanted = {"field": "meta.type", "operator": "==", "value": "vessel"}
    one = RecipeRetriever(knowledge_base=file, recipe=name).run(query=QUESTIONS[0], filters=wanted)["documents"]
    many = HybridGraphRetriever(knowledge_base=file, recipe=name).run(query=QUESTIONS[0], filters=wanted)["documents"]
    assert {found.meta["type"] for found in many} == {"vessel"}
    assert [(found.id, found.score) for found in one] == [(found.id, found.score) for found in many]


def test_a_part_without_a_component_is_named():
    class Nameless(Stage):
        kind: Literal["nameless"] = "nameless"

        def apply(self, hits, query, knowledge=None):
            return list(hits)

    with pytest.raises(RecipeError, match="no Haystack component for kind 'nameless'"):
        to_component(Nameless())


def test_a_key_in_a_recipe_becomes_a_secret():
    ranker = to_component(RemoteRerank(api_key_env="MY_KEY"))
    assert ranker.to_dict()["init_parameters"]["api_key"] == {
        "type": "env_var",
        "env_vars": ["MY_KEY"],
        "strict": False,
    }
    hidden = to_component(RemoteRerank(api_key="hidden"))
    with pytest.raises(ValueError, match="token-based"):
        hidden.to_dict()
    assert "hidden" not in repr(hidden)


def test_a_recipe_from_a_file(tmp_path, file):
    path = tmp_path / "mine.yaml"
    path.write_text(load_recipe("hybrid").to_yaml(), encoding="utf-8")
    found = HybridGraphRetriever(knowledge_base=file, recipe=str(path)).run(query=QUESTIONS[1])["documents"]
    assert found[0].id == "gate"


def test_limits_reach_sources_and_the_last_step():
    limits = LimitsRouter(depths={"text": 30, "graph": 50})
    assert limits.run() == {"text": 30, "graph": 50, "own": None, "top_k": None, "filters": None}
    assert limits.run(top_k=40, filters=VESSEL) == {
        "text": 40,
        "graph": 50,
        "own": None,
        "top_k": 40,
        "filters": VESSEL,
    }
    for faulty, message in (({"text": 0}, "depths.text: must be a whole number"), ({"own": 3}, "'own' is not allowed")):
        with pytest.raises(ValueError, match=message):
            LimitsRouter(depths=faulty)
    with pytest.raises(ValueError, match="top_k: must be a whole number of at least 1, but got '5'"):
        limits.run(top_k="5")
