"""Sources that start from the best hits of others and look next door."""

import pytest

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Query
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.query import Intent
from hopweave.routing.intent import IntentClassifier
from hopweave.sources.graph_boost import GraphBoost
from hopweave.sources.intent_edges import IntentEdges
from hopweave.stages.diversify.community_spread import CommunitySpread

# parser —feeds_into→ index —feeds_into→ search; cache —enables→ search; parser —has_limitation→ quirks
TOOLS = [
    Document("parser", "Reads files.", {"feeds_into": "index", "has_limitation": "quirks", "team": "a"}),
    Document("index", "Keeps terms.", {"feeds_into": "search", "team": "a"}),
    Document("search", "Finds pages.", {"team": "b"}),
    Document("cache", "Keeps answers.", {"enables": "search", "team": "a"}),
    Document("quirks", "Odd encodings break it.", {"team": "a"}),
]
UPSTREAM = {"text": [Hit("index", 2.0)], "vector": []}


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open(builders=[MetadataBuilder()]) as kb:
        kb.add(TOOLS)
        yield kb


def scores(hits):
    return {hit.id: round(hit.score, 4) for hit in hits}


def test_boost_counts_edges_from_a_seed_fully_and_edges_to_it_less(kb):
    # feeds_into weighs 0.8: search 0.8 · 1.0, parser 0.8 · 0.7; divided by 0.8
    assert scores(GraphBoost().search(Query("?"), kb, UPSTREAM)) == {"search": 1.0, "parser": 0.7}


def test_boost_takes_a_second_hop_for_some_intents(kb):
    found = scores(GraphBoost().search(Query("?", intent=Intent("workflow")), kb, UPSTREAM))
    # cache and quirks lie two hops away: 0.15 / 0.8
    assert found == {"search": 1.0, "parser": 0.7, "cache": 0.1875, "quirks": 0.1875}


def test_a_finer_intent_takes_the_second_hop_of_its_profile(kb):
    intent = IntentClassifier(taxonomy="fine").classify("compose a workflow of parser and index")
    assert intent.name == "compose_workflow"
    assert {"cache", "quirks"} <= scores(GraphBoost().search(Query("?", intent=intent), kb, UPSTREAM)).keys()


def test_intent_edges_follow_only_what_the_intent_prefers(kb):
    workflow = Query("?", intent=Intent("workflow", edge_types=("feeds_into",)))
    assert scores(IntentEdges().search(workflow, kb, UPSTREAM)) == {"search": 1.0, "parser": 0.7}
    debugging = Query("?", intent=Intent("debugging", edge_types=("has_limitation",)))
    assert scores(IntentEdges().search(debugging, kb, {"text": [Hit("parser")]})) == {"quirks": 1.0}


@pytest.mark.parametrize("source", [GraphBoost(), IntentEdges()])
def test_without_seeds_there_are_no_hits(kb, source):
    intent = Intent("workflow", edge_types=("feeds_into",))
    assert source.search(Query("?", intent=intent), kb, {}) == []
    assert source.search(Query("?", intent=intent), kb, {"text": [Hit("lost")]}) == []


def test_without_an_intent_no_edge_is_preferred(kb):
    assert IntentEdges().search(Query("?"), kb, UPSTREAM) == []


def test_a_tenant_sees_its_own_neighbours_only(kb):
    assert scores(GraphBoost().search(Query("?", tenant={"team": "a"}), kb, UPSTREAM)) == {"parser": 1.0}


def test_only_the_best_of_each_source_are_seeds(kb):
    upstream = {"text": [Hit("quirks", 3.0), Hit("index", 2.0)]}
    assert scores(GraphBoost(seeds_per_source=1).search(Query("?"), kb, upstream)) == {"parser": 1.0}


def test_the_weighted_recipe_brings_in_what_words_do_not_say(kb):
    result = Pipeline("weighted", kb).run("how do I build the pipeline around Keeps terms", top_k=5)
    assert result.query.intent.name == "workflow"
    signals = next(hit for hit in result.hits if hit.id == "search").receipts[-1].details["signals"]
    assert signals["graph"]["part"] > 0
    assert signals["intent_edges"]["part"] > 0


def test_communities_of_documents_reach_the_stage_that_spreads_them():
    ring = [
        Document(f"{side}{n}", "", {"relates_to": [f"{side}{m}" for m in range(4) if m != n]})
        for side in "ab"
        for n in range(4)
    ]
    with KnowledgeBase.open(embedder=None, builders=[MetadataBuilder()]) as kb:
        kb.add(ring)
        found = kb.communities([document.id for document in ring])
        assert len(set(found.values())) == 2
        assert found["a0"] == found["a3"] != found["b0"]
        hits = [Hit("a0", 0.9), Hit("a1", 0.8), Hit("b0", 0.79), Hit("b1", 0.7)]
        assert [hit.id for hit in CommunitySpread().apply(hits, Query("?"), kb)] == ["a0", "b0", "a1", "b1"]
