"""Twelve services of a night train company: code, deployment, runbooks and chat; and a recipe for those on call."""

import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

from hopweave import KnowledgeBase, Pipeline, Query, load_recipe, read_documents
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.vector.embedders import StaticEmbedder

FOLDER = Path(__file__).parents[2] / "examples" / "operations"
NOW = datetime.fromisoformat("2026-10-05T12:00:00Z")
DOCUMENTS = list(read_documents(FOLDER / "corpus.jsonl"))
BY_ID = {one.id: one for one in DOCUMENTS}
SERVICES = {one.metadata["service"] for one in DOCUMENTS if "service" in one.metadata}


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    path = tmp_path_factory.mktemp("operations") / "operations.db"
    builders = [ServicesBuilder()]
    with KnowledgeBase.open(path, embedder=StaticEmbedder(), analyzers=["nlp", "code"], builders=builders) as kb:
        kb.add(DOCUMENTS)
        yield kb


@pytest.fixture(scope="module")
def ask(kb):
    pipeline = Pipeline("operations", kb)
    return lambda text, **options: pipeline.run(Query(text, now=NOW, **options))


def order(result):
    return [hit.id for hit in result.hits]


def receipts(hit):
    return {receipt.stage: receipt for receipt in hit.receipts}


def corpus_type(hit):
    return hit.metadata["corpus_type"]


def test_documents_are_distinct_and_of_every_kind():
    assert 100 <= len(DOCUMENTS) <= 150
    assert len(BY_ID) == len({one.text for one in DOCUMENTS}) == len(DOCUMENTS)
    assert len(SERVICES) == 12
    kinds = Counter(one.metadata["corpus_type"] for one in DOCUMENTS)
    assert set(kinds) == {"CODE_LOGIC", "CODE_TEST", "CODE_DEPLOY", "DOC_RUNBOOK", "DOC_README", "CONVO_SLACK"}
    assert min(kinds.values()) >= 5
    assert all(datetime.fromisoformat(one.metadata["timestamp"]).replace(tzinfo=NOW.tzinfo) < NOW for one in DOCUMENTS)


def test_calls_lead_to_services_and_each_service_has_all_it_takes():
    for one in DOCUMENTS:
        named = [*one.metadata.get("calls_out", ()), *one.metadata.get("services", ())]
        assert SERVICES.issuperset(named), one.id
    for service in SERVICES:
        kinds = {one.metadata["corpus_type"] for one in DOCUMENTS if one.metadata.get("service") == service}
        assert kinds >= {"CODE_LOGIC", "CODE_DEPLOY", "DOC_RUNBOOK", "DOC_README"}, service


def test_every_question_is_judged_by_documents_that_exist():
    queries = read_queries(FOLDER / "queries.jsonl")
    assert 20 <= len(queries) <= 30
    assert all(id_ in BY_ID for one in queries for gold in one.qrels for id_ in gold)


def test_the_recipe_beats_each_of_its_sources(kb):
    report = evaluate(kb, ["operations"], read_queries(FOLDER / "queries.jsonl"), measures=["recall@5"], sources=True)
    recipe, *sources = (one.mean("recall@5") for one in report.evaluations)
    assert len(sources) == 3
    assert recipe > max(sources)


def test_the_code_index_finds_an_identifier_by_its_words_better_than_the_prose_index(kb):
    sources = load_recipe("operations").sources
    asked, camel_case = Query("already sent"), "notifier/internal/send/dedupe.go"
    found = {name: [hit.id for hit in sources[name].search(asked, kb)] for name in ("text", "code")}
    assert "alreadySent" in BY_ID[camel_case].text
    assert found["code"][0] == camel_case
    assert found["text"].index(camel_case) >= 3
    whole = Query("releaseExpiredHolds")
    assert next(hit.id for hit in sources["code"].search(whole, kb)) == "seat-map/internal/hold/expire.go"


def test_of_many_rotas_the_fresh_one_comes_first(ask):
    result = ask("Who is on call for core this month and when is it escalated?")
    rotas = [hit for hit in result.hits if hit.id.startswith("slack-oncall-rota")]
    assert rotas[0].id == "slack-oncall-rota"
    assert len(rotas) == 6
    freshness = [receipts(hit)["freshness"] for hit in rotas]
    assert freshness[0].details["decay"] > 0.9
    assert freshness[0].after - freshness[0].before > freshness[1].after - freshness[1].before


def test_freshness_is_for_conversations_only(ask):
    for hit in ask("Which version of booking-api is in production?").hits:
        assert ("freshness" in receipts(hit)) == (corpus_type(hit) == "CONVO_SLACK")


@pytest.mark.parametrize(
    ("question", "phrase", "favoured", "multiplier"),
    [
        ("How do I deploy booking-api and roll it back?", "deploy", {"CODE_DEPLOY", "DOC_RUNBOOK"}, 1.3),
        ("Which outage made searches lose their prices?", "outage", {"CONVO_SLACK", "DOC_RUNBOOK"}, 1.3),
        ("What are the steps to restore the books?", "steps", {"DOC_RUNBOOK", "DOC_README"}, 1.2),
    ],
)
def test_the_corpus_that_covers_the_subject_is_boosted(question, phrase, favoured, multiplier, ask):
    hits = ask(question).hits
    boosted = {hit.id: receipts(hit)["corpus_boost"] for hit in hits if "corpus_boost" in receipts(hit)}
    assert boosted.keys() == {hit.id for hit in hits if corpus_type(hit) in favoured}
    for receipt in boosted.values():
        assert receipt.details == {"multiplier": multiplier, "phrases": [phrase]}
        assert receipt.after == pytest.approx(multiplier * receipt.before)


def test_a_service_filter_applies_after_fusion(ask):
    result = ask("Why are captures slow?", filters={"service": "payment-hub"})
    assert result.hits
    assert {hit.metadata["service"] for hit in result.hits} == {"payment-hub"}


def test_the_neighbourhood_lists_callers_and_callees(ask):
    result = ask("What does booking-api call to take the money, and how long may that take?")
    around = result.neighbourhood.by_name["booking-api"]
    callees = {"seat-map", "fare-engine", "payment-hub", "ticket-press", "notifier"}
    assert {node.name for node in around.outgoing} == callees
    assert [node.name for node in around.incoming] == ["web-gateway"]
    assert {(edge.source, edge.type) for edge in around.edges if edge.target == "service:payment-hub"} == {
        ("service:booking-api", "calls")
    }
    assert {node.name for node in result.neighbourhood.by_name["payment-hub"].outgoing} == {"fraud-check", "ledger"}


def test_the_context_tells_the_calls_and_cites_the_documents(ask):
    result = ask("What does booking-api call to take the money, and how long may that take?")
    assert result.context.text.startswith("Connections:\n")
    assert "\npayment-hub —calls→ fraud-check, ledger; ←calls— booking-api\n" in result.context.text
    assert [one.id for one in result.context.citations] == order(result)[: len(result.context.citations)]
    assert "[1] " in result.context.text


@pytest.mark.parametrize("question", ["What is the procedure when a card processor is down?", "CAPTURE_TIMEOUT_MILLIS"])
def test_core_haystack_and_llama_index_answer_alike(question, kb, ask):
    from llama_index.core.schema import QueryBundle
    from llama_index.query_engine.hopweave import load_query_engine

    from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever

    result = ask(question)
    expected = [(hit.id, pytest.approx(hit.score, rel=1e-9)) for hit in result.hits]
    documents = HybridGraphRetriever(knowledge_base=str(kb.path), recipe="operations").run(query=question, now=NOW)
    assert [(one.id, one.score) for one in documents["documents"]] == expected
    pipeline = to_pipeline("operations", str(kb.path))
    outputs = pipeline.run({"query": question, "now": NOW}, include_outputs_from={"neighbourhood"})
    assert outputs["context"]["context"] == result.context.text
    assert outputs["neighbourhood"]["neighbourhood"] == json.loads(json.dumps(result.as_dict()["neighbourhood"]))
    engine = load_query_engine("operations", kb, now=NOW)
    assert [(node.node_id, node.score) for node in engine.retrieve(QueryBundle(question))] == expected
