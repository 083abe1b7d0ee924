"""What a recipe makes of a question is in the response's metadata, and answers may be kept for a while."""

import asyncio

import pytest
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.hopweave import documents_in
from llama_index.query_engine.hopweave import load_query_engine
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave import Document, KnowledgeBase
from hopweave.errors import MissingCapability
from hopweave.sources.keyword import Keyword


@pytest.fixture
def kb(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add([Document("pump", "Fix the bilge pump."), Document("gate", "The tide gate opens at six.")])
        yield kb


@pytest.fixture
def asked(monkeypatch):
    """The questions that the source of words is asked, in order."""
    questions = []
    search = Keyword.search

    def counting(self, query, *arguments, **options):
        questions.append(query.text)
        return search(self, query, *arguments, **options)

    monkeypatch.setattr(Keyword, "search", counting)
    return questions


def test_intent_and_weights_are_in_the_metadata_as_in_the_core(kb):
    expected = kb.search("How do I fix the pump?", recipe="knowledge").query.intent
    engine = load_query_engine("knowledge", kb)
    found = engine.query("How do I fix the pump?").metadata["hopweave"]["intent"]
    assert found == {
        "name": "debugging",
        "rule": "fix",
        "also": list(expected.also),
        "weights": dict(expected.weights),
    }
    assert asyncio.run(engine.aquery("How do I fix the pump?")).metadata["hopweave"]["intent"] == found
    assert "intent" not in load_query_engine("hybrid", kb).query("Fix the pump?").metadata["hopweave"]


def test_a_question_that_comes_again_is_answered_from_the_cache_until_the_file_changes(kb, asked):
    retriever = RecipeRetriever(kb, recipe="knowledge", cache_seconds=300)
    first = [(node.node_id, node.score) for node in retriever.retrieve("fix the pump")]
    assert [(node.node_id, node.score) for node in retriever.retrieve("fix the pump")] == first
    assert len(asked) == 1
    kb.add([Document("new", "Fix the pump of the tern.")])
    assert len(retriever.retrieve("fix the pump")) == len(first) + 1
    assert len(asked) == 2


def test_an_engine_passes_the_switch_on(kb, asked):
    engine = load_query_engine("knowledge", kb, cache_seconds=300)
    first, second = engine.query("fix the pump"), engine.query("fix the pump")
    assert len(asked) == 1
    assert str(first) == str(second)
    assert first.metadata["hopweave"]["intent"] == second.metadata["hopweave"]["intent"]
    plain = load_query_engine("knowledge", kb)
    assert str(plain.query("fix the pump")) == str(first)
    plain.query("fix the pump")
    assert len(asked) == 3


def test_retrievers_of_ones_own_are_not_cached(kb):
    class Nothing(BaseRetriever):
        def _retrieve(self, query_bundle):
            return []

    with pytest.raises(ValueError, match="cache_seconds: is not allowed with retrievers"):
        RecipeRetriever(kb, recipe="knowledge", retrievers={"text": Nothing()}, cache_seconds=5)


def test_nodes_of_another_store_are_not_cached(kb):
    with pytest.raises(MissingCapability, match="not allowed with ExternalDocuments, as nothing says"):
        RecipeRetriever(documents_in(SimpleDocumentStore(), kb), recipe="knowledge", cache_seconds=5)
