"""The components of a developer assistant: typed dependencies, three plans, late filters, paths in the context."""

import json
import os
from collections import Counter
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

import pytest
from haystack import Pipeline as HaystackPipeline
from llama_index.core.schema import QueryBundle
from llama_index.query_engine.hopweave import load_query_engine

from haystack_integrations.common.hopweave.recipe_pipeline import to_yaml
from hopweave import Hit, KnowledgeBase, Query, load_recipe, read_documents
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.vector.embedders import StaticEmbedder

FOLDER = Path(__file__).parents[2] / "examples" / "skills"
DOCUMENTS = list(read_documents(FOLDER / "corpus.jsonl"))
QUERIES = [json.loads(line) for line in (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()]

SIMPLE = "our tests are green on Monday and red on Tuesday although nothing changed"
MODERATE = "What else do I have to install so that Release Captain can work?"
COMPLEX = next(query["question"] for query in QUERIES if query["id"] == "q25")  # names five components
NEEDED_BY_RELEASE_CAPTAIN = {"semver-arithmetic", "changelog-weaver", "tag-signer", "clean-tree-check"}


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    file = tmp_path_factory.mktemp("skills") / "skills.db"
    with KnowledgeBase.open(file, embedder=StaticEmbedder(), builders=[MetadataBuilder()]) as kb:
        kb.add(DOCUMENTS)
        yield kb


def test_documents_are_distinct_and_of_a_size():
    assert 140 <= len(DOCUMENTS) <= 165
    for part in (lambda one: one.id, lambda one: one.title, lambda one: one.text):
        assert len({part(one) for one in DOCUMENTS}) == len(DOCUMENTS)
    assert all(30 <= len(one.text.split()) <= 120 for one in DOCUMENTS)
    assert set(Counter(one.metadata["type"] for one in DOCUMENTS)) == {"agent", "skill", "command", "hook"}


def test_every_dependency_leads_to_another_component_and_is_an_edge(kb):
    ids = {one.id for one in DOCUMENTS}
    given = [
        (one.id, name, key) for one in DOCUMENTS for name in EDGE_TYPE_WEIGHTS for key in one.metadata.get(name, ())
    ]
    assert all(key in ids and key != own for own, _, key in given)
    assert kb.graph.edge_count == len(given)


def test_gold_exists_passes_the_filters_and_every_plan_is_asked_for(kb):
    assert len(QUERIES) == len({query["question"] for query in QUERIES}) == 28
    for query in QUERIES:
        found = kb.get(query["gold"])
        assert list(found) == query["gold"]
        admits = Query("", filters=query.get("filters")).admits()
        assert all(admits(hit) for hit in found.values())
    plans = Counter(kb.search(query["question"], recipe="skills").plan.complexity for query in QUERIES)
    assert set(plans) == {"simple", "moderate", "complex"}
    assert min(plans.values()) >= 3


def test_the_recipe_beats_each_of_its_sources(kb):
    report = evaluate(kb, ["skills"], read_queries(FOLDER / "queries.jsonl"), measures=["recall@5"], sources=True)
    recipe, *alone = (one.mean("recall@5") for one in report.evaluations)
    assert len(alone) == 3
    assert recipe > 0.6
    assert recipe > max(alone) + 0.05


def test_what_a_component_requires_is_pulled_in_over_the_graph(kb):
    plain = {hit.id for hit in kb.search(MODERATE, recipe="hybrid").hits}
    assert len(plain & NEEDED_BY_RELEASE_CAPTAIN) <= 1
    hits = {hit.id: hit for hit in kb.search(MODERATE, recipe="skills").hits}
    assert hits.keys() >= NEEDED_BY_RELEASE_CAPTAIN | {"release-captain"}
    assert details(hits["tag-signer"], "pagerank")["path"] == "Release Captain —requires→ Tag Signer"
    assert details(hits["clean-tree-check"], "pagerank")["path"] == "Release Captain ←enables— Clean Tree Check"


def test_types_are_filtered_after_fusion_so_that_other_types_carry_the_walk(kb):
    question = "Which commands end up using Metric Reading through Canary Steps?"
    late = kb.search(Query(question, filters={"type": "command"}), recipe="skills").hits
    assert {hit.metadata["type"] for hit in late} == {"command"}
    assert "rollback-command" in [hit.id for hit in late[:3]]  # /rollback → Rollback Rehearsal, a skill → Canary Steps
    # a tenant's view is filtered inside the walk: the skills are not there to walk over
    early = kb.search(Query(question, tenant={"type": "command"}), recipe="skills").hits
    assert {hit.metadata["type"] for hit in early} == {"command"}
    assert "Rollback Rehearsal" not in " ".join(hit.path or "" for hit in early)
    assert "rollback-command" not in [hit.id for hit in early[:3]]


def test_a_question_that_names_nothing_goes_without_the_walk(kb):
    result = kb.search(SIMPLE, recipe="skills")
    assert result.plan.complexity == "simple"
    assert result.plan.sources == ("text", "vector")
    assert result.paths is None
    assert result.hits[0].id == "flaky-test-hunter"


def test_a_question_that_names_much_gets_its_paths_described(kb):
    result = kb.search(COMPLEX, recipe="skills")
    assert result.plan.complexity == "complex"
    assert 0 < len(result.paths.paths) <= 15
    assert result.context.text.startswith("Connections:\n")
    assert "Codebase Guide —requires→ Symbol Index ←requires— Codemod Writing" in result.context.text
    assert "[1] Codemod Writing (skill)" in result.context.text


def test_no_paths_unless_the_walk_found_five(kb):
    hits = kb.search(COMPLEX, recipe="skills").hits
    pruning = load_recipe("skills").paths
    walked = [hit for hit in hits if details(hit, "pagerank")]
    others = [hit._replace(receipts=()) for hit in hits]
    assert pruning.paths(walked[:5], kb).paths
    assert pruning.paths(walked[:2], kb).paths  # it asks how many the walk returned, and not how many are left
    few = [Hit(hit.id, hit.score).rescored(hit.score, "pagerank", returned=4) for hit in walked]
    assert not pruning.paths([*few[:4], *others[4:]], kb).paths


@pytest.mark.parametrize("question", [SIMPLE, MODERATE, COMPLEX])
def test_the_same_hits_and_the_same_context_as_a_haystack_yaml_and_as_a_llama_index_engine(kb, question):
    expected = kb.search(question, recipe="skills")
    pipeline = HaystackPipeline.loads(to_yaml("skills", str(kb.path)).split("\ninputs:")[0])
    asked = {"plan": {"query": question}, "fuse": {"query": question}, "context": {"query": question}}
    outputs = pipeline.run(asked, include_outputs_from={"fuse", "plan"})
    assert [one.id for one in outputs["fuse"]["documents"]] == [hit.id for hit in expected.hits]
    assert outputs["plan"]["plan"]["reason"] == expected.plan.reason
    assert outputs["context"]["context"] == expected.context.text
    engine = load_query_engine("skills", kb)
    assert [node.node_id for node in engine.retrieve(QueryBundle(question))] == [hit.id for hit in expected.hits]
    assert engine.query(question).response


def details(hit, stage):
    return next((receipt.details for receipt in hit.receipts if receipt.stage == stage), None)
