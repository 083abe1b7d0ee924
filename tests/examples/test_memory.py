"""The memories of a baker's assistant: dated, repeated, corrected, noisy; and a recipe that copes."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, Query, load_recipe, read_documents
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold
from hopweave.stages.filter.noise import is_noise
from hopweave.vector.embedders import StaticEmbedder

FOLDER = Path(__file__).parents[2] / "examples" / "memory"
NOW = datetime.fromisoformat("2026-09-20T08:00:00Z")
MEMORIES = list(read_documents(FOLDER / "corpus.jsonl"))
NOISE = {one.id for one in MEMORIES if one.metadata["category"] == "exchange"}


def lines(name):
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "memory.db"
    with KnowledgeBase.open(path, embedder=StaticEmbedder(), builders=[]) as kb:
        kb.add(MEMORIES)
        yield kb


@pytest.fixture(scope="module")
def ask(kb):
    pipeline = Pipeline("memory", kb)
    return lambda text, **options: pipeline.run(Query(text, now=NOW), **options)


def order(result):
    return [hit.id for hit in result.hits]


def receipts(result, id_):
    hit = next(hit for hit in result.hits if hit.id == id_)
    return {receipt.stage: receipt for receipt in hit.receipts}


def test_memories_are_distinct_dated_and_weighed():
    assert 80 <= len(MEMORIES) <= 120
    assert len({one.id for one in MEMORIES}) == len({one.text for one in MEMORIES}) == len(MEMORIES)
    for one in MEMORIES:
        assert datetime.fromisoformat(one.metadata["timestamp"]) < NOW
        assert 0 <= one.metadata["importance"] <= 1


def test_noise_is_what_the_rules_call_noise():
    assert {one.id for one in MEMORIES if is_noise(one.text)} == NOISE
    assert len(NOISE) > 15


def test_every_question_is_judged_by_memories_that_exist_and_are_no_noise():
    queries = read_queries(FOLDER / "queries.jsonl")
    known = {one.id for one in MEMORIES} - NOISE
    assert 20 <= len(queries) <= 30
    assert all(id_ in known for one in queries for gold in one.qrels for id_ in gold)
    assert set(Counter(one.fields["note"] for one in queries)) == {"fresh fact", "exact term", "plain", "several"}
    gate = load_recipe("memory").gate
    assert all(gate.decide(one.query.text).retrieve for one in queries)


def test_the_recipe_beats_each_of_its_sources(kb):
    report = evaluate(kb, ["memory"], read_queries(FOLDER / "queries.jsonl"), measures=["recall@5"], sources=True)
    recipe, *sources = (one.mean("recall@5") for one in report.evaluations)
    assert len(sources) == 2
    assert recipe > max(sources) + 0.05


def test_the_stages_stand_in_the_order_that_the_flow_asks_for():
    recipe = load_recipe("memory")
    assert [stage.kind for stage in recipe.stages] == [
        "confidence_threshold",
        "score_threshold",
        "recency_boost",
        "importance",
        "length",
        "time_decay",
        "score_threshold",
        "noise",
        "deferral",
    ]


@pytest.mark.parametrize("message", lines("gate.jsonl"), ids=lambda line: line["id"])
def test_the_gate(message, ask):
    result = ask(message["message"])
    assert (result.gate.retrieve, result.gate.rule) == (message["retrieve"], message["rule"])
    if not message["retrieve"]:
        assert result.hits == ()
        assert not {"text", "vector"} & result.timings.keys(), "nothing was searched"


@pytest.mark.parametrize(
    ("question", "new", "old"),
    [
        ("Which flour goes into the rye loaf, and how much of it?", "rye-flour-august", "rye-flour-june"),
        ("How is Loafline backed up, and where do the backups go?", "loafline-backup", "loafline-backup-old"),
        ("When should the summary of the week reach me?", "style-summary-monday", "style-summary-sunday"),
    ],
)
def test_a_correction_stands_above_what_it_corrects_though_that_fits_better(question, new, old, ask):
    result = ask(question)
    found = order(result)
    assert found.index(new) < found.index(old)
    fresh, faded = receipts(result, new), receipts(result, old)
    assert fresh["confirmatory"].after <= faded["confirmatory"].after
    assert faded["time_decay"].details["factor"] < fresh["time_decay"].details["factor"]


def test_near_duplicates_step_back_but_stay(ask):
    result = ask("Which flour goes into the rye loaf, and how much of it?", top_k=20)
    found = order(result)
    deferred = [hit.id for hit in result.hits if hit.receipts[-1].details["deferred"]]
    assert "rye-flour-april" in deferred
    assert found[-len(deferred) :] == deferred, "behind everything that says something new"
    repeats = receipts(result, "rye-flour-april")["deferral"].details
    assert repeats["repeats"] == "rye-flour-june"
    assert repeats["similarity"] > 0.85
    scores = [hit.score for hit in result.hits]
    assert scores != sorted(scores, reverse=True), "it had the better score"


def test_noise_is_found_by_the_sources_and_never_returned(kb, ask):
    crowding = 0
    for query in read_queries(FOLDER / "queries.jsonl"):
        found = Pipeline("memory", kb).find(query.query).hits
        crowding += len(NOISE & {hit.id for hit in found[:5]})
        assert not NOISE & set(order(ask(query.query.text, top_k=50)))
    assert crowding > 5


def test_importance_length_recency_and_minimum_leave_their_mark(ask):
    result = ask(
        "What is on the Loafline roadmap: standing orders, allergen labels, a screen above the bench?", top_k=50
    )
    by_stage = receipts(result, "loafline-stack-long")
    assert by_stage["recency_boost"].details["bonus"] == pytest.approx(0.1 * 2 ** (-27.5 / 14))
    assert by_stage["importance"].details["factor"] == pytest.approx(0.7 + 0.3 * 0.6)
    assert by_stage["length"].after < by_stage["length"].before
    assert all(hit.score >= 0.35 for hit in result.hits)


@pytest.mark.parametrize("question", ["Who do I call when the deck oven breaks down?", "Good morning!"])
def test_core_haystack_and_llama_index_remember_the_same(question, kb, ask):
    from llama_index.core.schema import QueryBundle
    from llama_index.query_engine.hopweave import load_query_engine

    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever

    expected = [(hit.id, pytest.approx(hit.score, rel=1e-9)) for hit in ask(question).hits]
    documents = HybridGraphRetriever(knowledge_base=str(kb.path), recipe="memory").run(query=question, now=NOW)
    assert [(one.id, one.score) for one in documents["documents"]] == expected
    nodes = load_query_engine("memory", kb, now=NOW).retrieve(QueryBundle(question))
    assert [(node.node_id, node.score) for node in nodes] == expected


@pytest.mark.parametrize("recipe", ["memory", "hybrid"])
@pytest.mark.parametrize(
    "question", ["What is the capital of Mongolia?", "Capital of Mongolia", "asdf qwer zxcv", "Wo liegt Ulan-Bator?"]
)
def test_a_question_about_something_else_gets_nothing_above_the_level(kb, recipe, question):
    with_threshold = load_recipe(recipe).model_copy(update={"gate": None, "stages": (ConfidenceThreshold(),)})
    result = Pipeline(with_threshold, kb).run(Query(question, now=NOW))
    assert result.hits == ()
    assert result.emptied_by == "confidence_threshold"
    assert result.confidence < ConfidenceThreshold().min_confidence
    assert result.as_dict()["confidence"]["coverage"] == 0.0


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Mongolia?",
        "Capital of Mongolia",
        "How tall is the Eiffel Tower?",
        "What is the population of Brazil?",
        "How do I configure a Kubernetes ingress?",
    ],
)
def test_the_recipe_returns_nothing_for_a_question_that_no_memory_answers(question, kb, ask):
    result = ask(question)
    assert result.hits == ()
    assert result.emptied_by == "confidence_threshold"
    found = Pipeline(load_recipe("memory").model_copy(update={"stages": ()}), kb).run(Query(question, now=NOW))
    assert found.hits


def test_the_recipe_still_answers_every_question_about_the_bakery(ask):
    assert all(ask(one.query.text).hits for one in read_queries(FOLDER / "queries.jsonl"))


def test_a_memory_that_is_near_by_its_vector_is_returned_though_its_words_do_not_say_much():
    with KnowledgeBase.open(builders=[]) as kb:
        kb.add([Document("nuts", "Ines cannot eat hazelnuts."), Document("oven", "The deck oven was repaired in May.")])
        result = kb.search("Which nuts are bad for Ines?", recipe="memory")
        assert result.confidence < 0.15
        assert order(result)[0] == "nuts"
        assert receipts(result, "nuts")["confidence_threshold"].details["best_cosine"] > 0.35


def test_most_questions_about_the_bakery_stay_above_the_level(kb):
    recipe = load_recipe("memory").model_copy(update={"stages": (ConfidenceThreshold(),)})
    judged = read_queries(FOLDER / "queries.jsonl")
    results = [Pipeline(recipe, kb).run(Query(one.query.text, now=NOW)) for one in judged]
    assert sum(bool(result.hits) for result in results) >= 0.9 * len(judged)
