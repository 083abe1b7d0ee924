"""The recipe retriever in a real Haystack pipeline."""

import asyncio
import json

import pytest
from haystack import Document, Pipeline

from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from hopweave import Document as Passage
from hopweave import KnowledgeBase

PASSAGES = [
    Passage("skua", "The Skua is a ferry built at Sørvåg.", {"type": "vessel", "year": 1974}),
    Passage("gate", "The tide gate opens at six.", {"type": "manual", "year": 2001}),
    Passage("plover", "The Plover is a smaller ferry.", {"type": "vessel", "year": 1990}),
]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("kb") / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add(PASSAGES)
    return str(path)


def test_finds_documents_and_tells_why(file):
    documents = RecipeRetriever(knowledge_base=file).run(query="ferry")["documents"]
    assert {document.id for document in documents[:2]} == {"skua", "plover"}
    assert all(isinstance(document, Document) for document in documents)
    stages = [receipt["stage"] for receipt in documents[0].meta["hopweave"]["receipts"]]
    assert stages == ["evidence_sum", "pagerank", "bm25", "vector", "trust_weighted"]
    json.dumps(documents[0].meta)


def test_runs_alike_with_and_without_an_event_loop(file):
    retriever = RecipeRetriever(knowledge_base=file, top_k=2)
    assert retriever.run(query="ferry") == asyncio.run(retriever.run_async(query="ferry"))


def test_haystack_filters_are_honoured(file):
    filters = {
        "operator": "AND",
        "conditions": [
            {"field": "meta.type", "operator": "==", "value": "vessel"},
            {"field": "meta.year", "operator": ">=", "value": 1980},
        ],
    }
    documents = RecipeRetriever(knowledge_base=file).run(query="ferry", filters=filters)["documents"]
    assert [document.id for document in documents] == ["plover"]


def test_top_k_given_to_run_wins_and_zero_is_refused_by_the_core(file):
    retriever = RecipeRetriever(knowledge_base=file, top_k=3)
    assert len(retriever.run(query="ferry", top_k=1)["documents"]) == 1
    with pytest.raises(ValueError, match="top_k: must be a whole number of at least 1, but got 0"):
        retriever.run(query="ferry", top_k=0)


def test_a_pipeline_survives_yaml_without_any_allowlist(file):
    pipeline = Pipeline()
    pipeline.add_component("retriever", RecipeRetriever(knowledge_base=file, top_k=2))
    text = pipeline.dumps()
    again = Pipeline.loads(text)
    assert again.dumps() == text
    question = {"retriever": {"query": "tide gate"}}
    assert again.run(question) == pipeline.run(question)


def test_an_empty_query_finds_nothing(file):
    assert RecipeRetriever(knowledge_base=file).run(query="  ")["documents"] == []
