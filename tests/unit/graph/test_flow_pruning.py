"""Paths between the hits of an answer."""

import re

import pytest
from pydantic import ValidationError

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Recipe
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.query import Plan, Query
from hopweave.sources.pagerank import PageRank

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


CHAIN = [
    *ISLES,
    Document("mull", "Ingrid Falk also drew MV Mull.", {"title": "MV Mull"}),
    Document("lone", "Ingrid Falk is not named here.", {"title": "Nothing"}),
    Document("aside", "A harbour with cranes.", {"title": "Aside"}),
]


@pytest.fixture(scope="module")
def chain():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(CHAIN)
        yield kb


def test_pruning_drops_what_is_on_no_path_and_ranks_by_reliability(chain):
    hits = [Hit("aside", 0.9), Hit("lunn", 0.3), Hit("falk", 0.2), Hit("skua", 0.1)]
    pruning = FlowPruning(min_hits=2)
    best = {}
    for path in pruning.paths(hits, chain).paths:
        for key in path.document_ids:
            best.setdefault(key, path.reliability)
    pruned = pruning.prune(hits, chain)
    assert {hit.id: hit.score for hit in pruned} == {key: best[key] for key in ("lunn", "falk", "skua")}
    assert [hit.score for hit in pruned] == sorted((hit.score for hit in pruned), reverse=True)
    assert pruned[0].receipts[-1].stage == "flow_pruning"
    assert "Falk" in pruned[0].receipts[-1].details["path"]


def test_pruning_can_keep_what_is_on_no_path_below_the_others(chain):
    hits = [Hit("aside", 0.9), Hit("lunn", 0.3), Hit("falk", 0.2), Hit("lost", None)]
    pruned = FlowPruning(min_hits=2).prune(hits, chain, keep_off_path=True)
    assert [hit.id for hit in pruned[-2:]] == ["aside", "lost"]
    assert pruned[-2].score < min(hit.score for hit in pruned[:-2])
    assert pruned[-2].receipts[-1].details["path"] is None


def test_negative_scores_keep_their_order_off_the_paths(chain):
    hits = [Hit("lunn", 3.0), Hit("falk", 2.0), Hit("aside", -1.0), Hit("lost", -5.0)]
    pruned = FlowPruning(min_hits=2).prune(hits, chain, keep_off_path=True)
    least = pruned[1].score
    assert {hit.id: hit.score for hit in pruned[2:]} == {"aside": least * ((-1 + 5) / (3 + 5)) / 2, "lost": 0.0}


def test_without_paths_pruning_leaves_all_as_they_are(chain):
    hits = [Hit("aside", 0.9), Hit("lunn", 0.3)]
    assert FlowPruning(min_hits=2).prune(hits, chain) == hits
    assert FlowPruning(min_hits=5).prune([*hits, Hit("falk", 0.1)], chain) == [*hits, Hit("falk", 0.1)]
    assert FlowPruning(min_hits=2).prune([], chain) == []


def test_what_counts_is_how_many_the_source_returned_and_not_how_many_are_left(chain):
    pruning = FlowPruning(min_hits=4, found_by="pagerank")
    left = [Hit(name, 1.0).rescored(1.0, "pagerank", returned=4) for name in ("skua", "falk")]
    assert pruning.paths(left, chain).paths
    few = [Hit(name, 1.0).rescored(1.0, "pagerank", returned=3) for name in ("skua", "falk")]
    assert not pruning.paths(few, chain).paths


def test_pagerank_says_how_many_hits_it_returned(chain):
    hits = PageRank(seeds_from=(), word_source=None).search(Query("Ingrid Falk"), chain)
    assert {hit.receipts[0].details["returned"] for hit in hits} == {len(hits)}


def test_a_source_prunes_before_fusion_when_the_plan_finds_the_question_complex(chain):
    plain = PageRank(seeds_from=(), word_source=None)
    pruning = plain.changed(prune={"min_hits": 2, "max_endpoints": 2})
    query = Query("Ingrid Falk and Lunn")
    found, pruned = plain.search(query, chain), pruning.search(query, chain)
    assert {hit.id for hit in pruned} < {hit.id for hit in found}
    assert all(hit.receipts[-1].stage == "flow_pruning" for hit in pruned)
    assert {hit.receipts[-1].details["trust"] for hit in pruned} == {found[0].receipts[0].details["trust"]}
    simple = query.understood(plan=Plan(("graph",), prune_paths=False))
    complex_ = query.understood(plan=Plan(("graph",), prune_paths=True))
    assert pruning.search(simple, chain) == found
    assert pruning.search(complex_, chain) == pruned


def test_fusion_sees_what_pruning_left(chain):
    recipe = """
name: pruned
sources: {graph: {kind: pagerank, seeds_from: [], word_source: null, prune: {min_hits: 2, max_endpoints: 2}}}
"""
    found = Pipeline(Recipe.from_yaml(recipe), chain).run("Ingrid Falk and Lunn").hits
    every = Pipeline(Recipe.from_yaml(recipe.replace(", prune: {min_hits: 2, max_endpoints: 2}", "")), chain)
    assert 0 < len(found) < len(every.run("Ingrid Falk and Lunn").hits)
