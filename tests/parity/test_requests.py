"""What a question may ask for, and what is told when something fails: the same in core, Haystack and LlamaIndex."""

import logging

import pytest
from llama_index.core.schema import QueryBundle
from llama_index.hopweave import RequestBundle

from hopweave import Query
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe

from .conftest import as_document, as_node
from .test_rankings import same

QUESTION = "How did people make a living in the place where the designer of MV Skua was born?"
GONE = {"kind": "cross_encoder", "model": "./no such folder", "optional": True}


@pytest.mark.parametrize("skip", [["graph"], ["rerank"], ["freshness"], ["vector", "rerank"], []])
@pytest.mark.parametrize("name", ["multihop", "skills", "operations", "service"])
def test_switches(name, skip, framework, core, kb):
    recipe = load_recipe(name)
    stages = ({"kind": "cosine_rerank"}, {"kind": "freshness", "corpus_types": None, "weight": 0.5}, *recipe.stages)
    recipe = Recipe(**{**dict(recipe), "stages": stages})
    question = Query(QUESTION, skip=skip)
    expected = core.run(recipe, question, kb)
    assert "rerank" not in skip or expected != core.run(recipe, Query(QUESTION), kb)
    same(framework.run(recipe, question, kb), expected)
    same(framework.run_native(recipe, question, kb), expected)


def test_unknown_switches(framework, kb):
    with pytest.raises(ValueError, match="skip: 'ranking' is not allowed; allowed are rerank, graph, freshness and"):
        framework.run("hybrid", Query(QUESTION, skip=["ranking"]), kb)


def with_broken_stage(recipe="hybrid"):
    recipe = load_recipe(recipe)
    return Recipe(**{**dict(recipe), "stages": (GONE, *recipe.stages)})


def test_recipes_with_an_optional_stage_that_fails(framework, core, kb):
    expected = core.run("hybrid", Query(QUESTION), kb)
    same(core.run(with_broken_stage(), Query(QUESTION), kb), expected)
    same(framework.run(with_broken_stage(), Query(QUESTION), kb), expected)
    same(framework.run_native(with_broken_stage(), Query(QUESTION), kb), expected)


def reason(kb):
    found = Pipeline(with_broken_stage(), kb).run(QUESTION)
    assert list(found.failures) == ["cross_encoder"]
    return found.failures["cross_encoder"]


def test_haystack_says_that_an_optional_stage_failed(kb, hits, caplog):
    from haystack_integrations.components.rankers.hopweave import CrossEncoderRanker
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    why = reason(kb)
    with caplog.at_level(logging.WARNING):
        found = RecipeRetriever(knowledge_base=str(kb.path), recipe=with_broken_stage()).run(query=QUESTION)
    assert found["failures"] == {"cross_encoder": why}
    assert "RecipeRetriever goes on without 'cross_encoder'" in caplog.text
    ranker = CrossEncoderRanker(model=GONE["model"], optional=True)
    given = [as_document(hit) for hit in hits]
    ranked = ranker.run(documents=given, query=QUESTION)
    assert [one.id for one in ranked["documents"]] == [one.id for one in given]
    assert ranked["failures"] == {"cross_encoder": why}
    assert ranked["documents"][0].meta["hopweave"]["receipts"][-1]["details"]["reason"] == why
    assert ranker.to_dict()["init_parameters"]["optional"] is True
    assert "failures" not in ranker.run(documents=given, query=QUESTION, skip=["rerank"])


def test_llama_index_says_that_an_optional_stage_failed(kb, hits, caplog):
    from llama_index.postprocessor.hopweave import CrossEncoderPostprocessor
    from llama_index.query_engine.hopweave import RecipeQueryEngine

    why = reason(kb)
    with caplog.at_level(logging.WARNING):
        response = RecipeQueryEngine(with_broken_stage(), kb).query(QUESTION)
    assert response.metadata["hopweave"]["failures"] == {"cross_encoder": why}
    assert f"'cross_encoder' failed and was skipped: {why}" in caplog.text
    postprocessor = CrossEncoderPostprocessor(model=GONE["model"], optional=True)
    nodes = [as_node(hit) for hit in hits]
    ranked = postprocessor.postprocess_nodes(nodes, QueryBundle(QUESTION))
    assert [one.node_id for one in ranked] == [one.node_id for one in nodes]
    assert ranked[0].metadata["hopweave"]["receipts"][-1]["details"]["reason"] == why
    skipped = postprocessor.postprocess_nodes(nodes, RequestBundle(QUESTION, skip=["rerank"]))
    assert skipped[0].metadata["hopweave"]["receipts"] == nodes[0].metadata["hopweave"]["receipts"]
