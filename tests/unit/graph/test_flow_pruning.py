"""Paths between the hits of an answer."""

import re

import pytest
from pydantic import ValidationError

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Recipe
from hopweave.graph.flow_pruning import FlowPruning

ISLES = [
    Document("skua", "MV Skua was drawn by Ingrid Falk.", {"title": "MV Skua"}),
    Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk"}),
    Document("lunn", "Lunn is a village.", {"title": "Lunn"}),
]
RECIPE = """
name: paths
plan: {complex_entities: 0, simple_entities: 0, simple_characters: 0, graph_sources: [text]}
sources: {text: {kind: bm25}}
paths: {min_hits: 2}
context: {budget_tokens: 200}
"""


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(ISLES)
        yield kb


def test_paths_join_the_hits_over_what_they_share(kb):
    found = FlowPruning(min_hits=2).paths([Hit("skua", 1.0), Hit("falk", 0.5)], kb)
    assert found.paths[0].words == "MV Skua —mentions→ Ingrid Falk ←about— Ingrid Falk"
    assert found.finished


def test_too_few_hits_give_no_paths(kb):
    assert FlowPruning().paths([Hit("skua", 1.0), Hit("falk", 0.5)], kb).paths == ()
    assert FlowPruning(min_hits=2).paths([], kb).paths == ()
    assert FlowPruning(min_hits=2).paths([Hit("lost", 1.0), Hit("gone", 1.0)], kb).paths == ()


def test_only_what_the_named_kind_of_source_found_counts_as_a_hit(kb):
    walked = [Hit(name, 1.0).rescored(1.0, "pagerank") for name in ("skua", "falk")]
    pruning = FlowPruning(min_hits=2, found_by="pagerank")
    assert pruning.paths(walked, kb).paths
    assert pruning.paths([walked[0], walked[0], Hit("falk", 1.0)], kb).paths == ()  # one of them, given twice
    assert pruning.paths([*walked, Hit("lunn", 1.0)], kb) == FlowPruning(min_hits=2).paths(
        [*walked, Hit("lunn", 1.0)], kb
    )


def test_logits_become_probabilities_first(kb):
    pruning = FlowPruning(min_hits=2)
    found = pruning.paths([Hit("skua", 0.0, scale="logit"), Hit("falk", -1000.0, scale="logit")], kb)
    assert found.paths == ()  # a score of 0 is no endpoint
    assert pruning.paths([Hit("skua", 2.0, scale="logit"), Hit("falk", -2.0, scale="logit")], kb).paths


def test_a_hit_without_a_score_counts_as_the_last(kb):
    hits = [Hit("skua", 1.0), Hit("falk", None), Hit("lunn", 0.5)]
    found = FlowPruning(min_hits=2).paths(hits, kb)
    assert found == FlowPruning(min_hits=2).paths([Hit("skua", 1.0), Hit("falk", 0.5), Hit("lunn", 0.5)], kb)


def test_a_recipe_tells_the_paths_and_puts_them_in_the_context(kb):
    result = Pipeline(Recipe.from_yaml(RECIPE), kb).run("Ingrid Falk drew MV Skua in Lunn")
    assert result.plan.complexity == "complex"
    assert result.as_dict()["paths"]
    assert result.context.text.startswith("Connections:\n")
    assert result.paths.paths[0].words in result.context.text


def test_a_plan_that_finds_the_question_simple_leaves_the_paths_out(kb):
    recipe = Recipe.from_yaml(re.sub("plan: .*", "plan: {}", RECIPE))
    assert Pipeline(recipe, kb).run("MV Skua").paths is None


def test_bad_parameters_are_named():
    with pytest.raises(ValidationError, match=r"decay\n.*greater than 0"):
        FlowPruning(decay=0)
