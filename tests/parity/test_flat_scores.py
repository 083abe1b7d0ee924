"""The score of every step as flat fields, on request; in core, Haystack, LlamaIndex and on the command line."""

import json
import logging
from pathlib import Path

import pytest
from haystack import Document as HaystackDocument
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.query_engine.hopweave import RecipeQueryEngine
from llama_index.retrievers.hopweave import RecipeRetriever as LlamaIndexRetriever

from haystack_integrations.common.hopweave.documents import with_flat_scores
from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever, RecipeRetriever
from hopweave import Hit, KnowledgeBase, Query, read_documents
from hopweave.cli import main
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe, load_recipe

from .conftest import NOW

CORPUS = Path(__file__).parents[2] / "examples" / "operations" / "corpus.jsonl"
QUESTION = "Incident: all captures through Borealis fail with BX-403. What do they need from us?"
FIELDS = {"dense_score", "bm25_score", "bm25_code_score", "rrf_score", "rerank_score", "freshness", "freshness_score"}


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    path = tmp_path_factory.mktemp("operations") / "kb.db"
    with KnowledgeBase.open(path, analyzers=("nlp", "code"), builders=[ServicesBuilder()]) as kb:
        kb.add(read_documents(CORPUS))
        yield kb


@pytest.fixture(scope="module")
def recipe():
    shipped = load_recipe("operations")
    return Recipe(**{**dict(shipped), "stages": ({"kind": "cosine_rerank"}, *shipped.stages), "top_k": 5})


def test_by_hand():
    hit = Hit("a").rescored(2.0, "bm25", analyzer="code").rescored(3.0, "bm25", analyzer="nlp")
    hit = hit.rescored(0.1, "reciprocal_rank").rescored(1.0, "scale").rescored(0.7, "cross_encoder", logit=4.5)
    hit = hit.rescored(0.7, "remote_rerank", outcome="original_order", reason="no key").rescored(
        0.6, "freshness", decay=0.5
    )
    assert hit.scores == {
        "bm25_code_score": 2.0,
        "bm25_score": 3.0,
        "rrf_score": 0.1,
        "rerank_score": 4.5,
        "freshness_score": 0.6,
        "freshness": 0.5,
        "final_score": 0.6,
    }


def test_every_framework_has_the_same_fields(operations, recipe):
    path = str(operations.path)
    result = Pipeline(recipe, operations).run(Query(QUESTION, now=NOW))
    expected = {hit.id: hit.scores for hit in result.hits}
    assert set().union(*expected.values()) >= FIELDS
    for one in result.as_dict(flat_scores=True)["hits"]:
        assert expected[one["id"]].items() <= one.items()
    assert "dense_score" not in result.as_dict()["hits"][0]
    for retriever in (RecipeRetriever, HybridGraphRetriever):
        made = retriever(knowledge_base=path, recipe=recipe, flat_scores=True)
        documents = made.run(query=QUESTION, now=NOW)["documents"]
        assert {one.id: {name: one.meta.get(name) for name in expected[one.id]} for one in documents} == expected
        assert documents[0].meta["hopweave"]["receipts"]
        plain = retriever(knowledge_base=path, recipe=recipe).run(query=QUESTION, now=NOW)["documents"]
        assert "dense_score" not in plain[0].meta
    retrieved = LlamaIndexRetriever(operations, recipe=recipe, flat_scores=True, now=NOW).retrieve(QUESTION)
    by_engine = RecipeQueryEngine(recipe, operations, flat_scores=True, now=NOW).retrieve(QueryBundle(QUESTION))
    for nodes in (retrieved, by_engine):
        assert {
            one.node_id: {name: one.metadata.get(name) for name in expected[one.node_id]} for one in nodes
        } == expected
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert "dense_score" not in nodes[0].node.get_content(metadata_mode=mode)


def test_the_command_line(operations, capsys):
    arguments = ["query", QUESTION, "--kb", str(operations.path), "--recipe", "operations", "--scores"]
    assert main([*arguments, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["hits"][0]
    assert first["final_score"] == first["score"]
    assert {"dense_score", "bm25_score", "rrf_score"} <= first.keys()
    assert main(arguments) == 0
    assert "rrf_score=" in capsys.readouterr().out


def test_fields_of_the_users_own_stay(caplog):
    from llama_index.hopweave import to_hit, to_node

    from haystack_integrations.common.hopweave.documents import to_document

    hit = Hit("a", metadata={"dense_score": "mine"}).rescored(0.5, "vector")
    with caplog.at_level(logging.WARNING):
        document = with_flat_scores(to_document(hit._replace(origin=HaystackDocument(id="a", meta=dict(hit.metadata)))))
        node = to_node(to_hit(to_node(hit)), flat_scores=True)
    assert document.meta["dense_score"] == node.metadata["dense_score"] == "mine"
    assert document.meta["final_score"] == node.metadata["final_score"] == 0.5
    assert caplog.text.count("of its own, which stay") == 2


def test_the_neighbourhood_is_data_in_llama_index_and_says_how_where_there_is_none(operations, tmp_path):
    from haystack_integrations.components.builders.hopweave import ServiceNeighbourhoodBuilder

    expected = Pipeline("operations", operations).run(Query(QUESTION, now=NOW)).neighbourhood.as_dict()
    assert any(one["outgoing"] for one in expected.values())
    response = RecipeQueryEngine("operations", operations, now=NOW).query(QUESTION)
    assert response.metadata["hopweave"]["neighbourhood"] == expected
    with KnowledgeBase.open(tmp_path / "default.db") as kb:
        kb.add(read_documents(CORPUS))
        result = kb.search(Query(QUESTION, now=NOW), recipe="operations")
        why = result.failures["service_neighbourhood"]
        assert "the graph has no services, but the hits name " in why
        assert "hopweave index --graph services, or builders=[ServicesBuilder()]" in why
        response = RecipeQueryEngine("operations", kb, now=NOW).query(QUESTION)
        assert response.metadata["hopweave"]["failures"]["service_neighbourhood"] == why
        documents = RecipeRetriever(knowledge_base=kb.path, recipe="operations").run(query=QUESTION, now=NOW)
        assert documents["failures"]["service_neighbourhood"] == why
        built = ServiceNeighbourhoodBuilder(knowledge_base=kb.path).run(documents=documents["documents"])
        assert built["failures"]["service_neighbourhood"] == why
        kb.add([])
        assert "service_neighbourhood" not in kb.search("capital", recipe="hybrid").failures
