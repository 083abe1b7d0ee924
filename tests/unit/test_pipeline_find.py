"""The first half of a run: what sources and fuser find."""

import asyncio

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe

RECIPE = """
name: small
sources: {text: {kind: bm25}}
stages: [{kind: score_threshold, min_score: 1.0}]
context: {}
top_k: 1
"""


def test_everything_is_found_before_stages_and_cut():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document(key, f"ferry {key}", {"even": number % 2 == 0}) for number, key in enumerate("abc")])
        pipeline = Pipeline(Recipe.from_yaml(RECIPE), kb)
        found = pipeline.find("ferry")
        assert [hit.id for hit in found.hits] == ["a", "b", "c"]
        assert [receipt.stage for receipt in found.hits[0].receipts] == ["bm25", "reciprocal_rank"]
        assert found.context is None
        assert asyncio.run(pipeline.find_async("ferry")).hits == found.hits
        assert [hit.id for hit in pipeline.find(Query("ferry", filters={"even": True})).hits] == ["a", "c"]
        assert [hit.id for hit in pipeline.run("ferry").hits] == ["a"]


def test_a_context_for_hits_that_went_through_the_stages_elsewhere():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("skua", "Ingrid Falk designed it.", {"title": "MV Skua"})])
        kb.add([Document("falk", "She came from Lunn.", {"title": "Ingrid Falk"})])
        pipeline = Pipeline(Recipe.from_yaml(RECIPE.replace("top_k: 1", "paths: {}\ntop_k: 9")), kb)
        result = pipeline.run("Who designed MV Skua?")
        assert pipeline.context("Who designed MV Skua?", result.hits) == result.context
        assert "[1]" in result.context.text
        assert pipeline.context("?", []).text == ""
