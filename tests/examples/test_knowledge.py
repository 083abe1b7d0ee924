"""The knowledge graph of a pottery: well judged, all edge types, and a recipe that beats each of its sources."""

import json
from collections import Counter
from pathlib import Path

import pytest

from hopweave import KnowledgeBase, load_recipe, read_documents
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.vector.embedders import StaticEmbedder

FOLDER = Path(__file__).parents[2] / "examples" / "knowledge"
DOCUMENTS = list(read_documents(FOLDER / "corpus.jsonl"))
QUERIES = [json.loads(line) for line in (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
INTENTS = (
    "exact_match debugging capability_check workflow comparison goal_based exploratory semantic".split()  # noqa: SIM905
)


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open(embedder=StaticEmbedder(), builders=[MetadataBuilder()]) as kb:
        kb.add(DOCUMENTS)
        yield kb


def test_documents_are_distinct_and_of_a_size():
    assert 60 <= len(DOCUMENTS) <= 120
    for part in (lambda one: one.id, lambda one: one.title, lambda one: one.text):
        assert len({part(one) for one in DOCUMENTS}) == len(DOCUMENTS)
    assert all(30 <= len(one.text.split()) <= 120 for one in DOCUMENTS)


def test_every_reference_leads_to_another_document_and_every_edge_type_is_there(kb):
    ids = {one.id for one in DOCUMENTS}
    given = [
        (one.id, name, key) for one in DOCUMENTS for name in EDGE_TYPE_WEIGHTS for key in one.metadata.get(name, ())
    ]
    assert all(key in ids and key != own for own, _, key in given)
    assert {name for _, name, _ in given} == set(EDGE_TYPE_WEIGHTS) <= set(kb.graph.edge_types)
    assert kb.graph.edge_count == len(given)


def test_questions_cover_every_intent_and_their_gold_exists(kb):
    assert len(QUERIES) == len({query["question"] for query in QUERIES}) == 30
    assert all(kb.get(query["gold"]) and len(kb.get(query["gold"])) == len(query["gold"]) for query in QUERIES)
    classifier = load_recipe("knowledge").intent
    found = Counter(classifier.classify(query["question"]).name for query in QUERIES)
    assert [classifier.classify(query["question"]).name for query in QUERIES] == [query["note"] for query in QUERIES]
    assert set(found) == set(INTENTS)
    assert min(found.values()) >= 3


def test_the_recipe_beats_each_of_its_sources(kb):
    report = evaluate(
        kb, ["knowledge"], read_queries(FOLDER / "queries.jsonl"), measures=["recall@5"], sources=True
    ).evaluations
    recipe, *alone = (one.mean("recall@5") for one in report)
    assert len(alone) == 4
    assert recipe > 0.6
    assert recipe > max(alone) + 0.03


def test_receipts_hold_the_four_parts_and_which_signals_found_a_hit(kb):
    result = kb.search(
        "Chalk White failed on my bowl: bare islands everywhere. How can I fix that?", recipe="knowledge"
    )
    assert result.query.intent.name == "debugging"
    details = {hit.id: fused(hit) for hit in result.hits}
    for hit in result.hits:
        signals = details[hit.id]["signals"]
        assert list(signals) == ["embedding", "graph", "intent_edges", "text"]
        assert {name: one["weight"] for name, one in signals.items()} == pytest.approx(
            {"embedding": 0.30, "text": 0.45, "graph": 0.20, "intent_edges": 0.05}
        )
        score = next(receipt.after for receipt in hit.receipts if receipt.stage == "weighted")
        assert score == pytest.approx(sum(one["part"] for one in signals.values()))
        found = [name for name in ("embedding", "text", "graph", "intent_edges") if signals[name]["source"]]
        assert details[hit.id]["method"] == "+".join(found)
        json.dumps(hit.as_dict())
    assert details["chalk-white"]["method"] == "embedding+text+graph+intent_edges"


@pytest.mark.parametrize(
    ("question", "intent", "neighbour", "edge"),
    [
        ("Big Ada is broken", "debugging", "ada-ceiling", "has_limitation"),
        ("Big Ada versus other kilns", "comparison", "the-bishop", "alternative_to"),
        ("I want to use Big Ada", "goal_based", "bisque-firing", "used_for"),
        ("How to use Big Ada", "workflow", "tc-eight", "depends_on"),
    ],
)
def test_one_kiln_four_intents_four_sets_of_neighbours(kb, question, intent, neighbour, edge):
    result = kb.search(question, recipe="knowledge", top_k=50)
    assert result.query.intent.name == intent
    reached = [hit.id for hit in result.hits if fused(hit)["signals"]["intent_edges"]["source"]]
    assert edge in result.query.intent.edge_types
    assert neighbour in reached


def test_an_exact_term_follows_no_edges_and_goes_by_words(kb):
    result = kb.search("glazebook.json", recipe="knowledge")
    assert result.query.intent.name == "exact_match"
    assert result.hits[0].id == "glaze-book"
    assert fused(result.hits[0])["signals"]["text"]["weight"] == pytest.approx(0.65)
    assert all(not fused(hit)["signals"]["intent_edges"]["source"] for hit in result.hits)


def test_the_best_of_each_community_is_raised(kb):
    spread = [
        next(receipt for receipt in hit.receipts if receipt.stage == "community_spread")
        for hit in kb.search("Which is better for beginners, throwing or slabs?", recipe="knowledge").hits
    ]
    assert {receipt.details["multiplier"] for receipt in spread} == {1.0, 1.05}
    raised = [receipt.details["community"] for receipt in spread if receipt.details["multiplier"] > 1]
    assert len(raised) == len(set(raised))


def fused(hit):
    return next(receipt.details for receipt in hit.receipts if receipt.stage == "weighted")
