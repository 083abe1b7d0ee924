"""What a recipe makes of a question is an output, and answers may be kept for a while."""

import pickle

import pytest
from haystack.core.serialization import component_from_dict, component_to_dict
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import Document, KnowledgeBase
from hopweave.sources.keyword import Keyword


@pytest.fixture
def path(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add([Document("pump", "Fix the bilge pump."), Document("gate", "The tide gate opens at six.")])
    return tmp_path / "kb.db"


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


def test_intent_and_weights_are_an_output_as_in_the_core(path):
    with KnowledgeBase.open(path, read_only=True) as kb:
        expected = kb.search("How do I fix the pump?", recipe="knowledge").query.intent
    found = RecipeRetriever(knowledge_base=path, recipe="knowledge").run(query="How do I fix the pump?")["intent"]
    assert (found["name"], found["rule"]) == ("debugging", "fix")
    assert found["weights"] == dict(expected.weights)
    assert RecipeRetriever(knowledge_base=path).run(query="How do I fix the pump?")["intent"] is None


def test_a_question_that_comes_again_is_answered_from_the_cache_until_the_file_changes(path, asked):
    retriever = RecipeRetriever(knowledge_base=path, recipe="knowledge", cache_seconds=300)
    first = retriever.run(query="fix the pump")
    assert retriever.run(query="fix the pump") == first
    assert len(asked) == 1
    retriever.run(query="fix the pump", top_k=1)
    retriever.run(query="fix the pump", filters={"field": "meta.type", "operator": "==", "value": "x"})
    assert len(asked) > 2
    before = len(asked)
    with KnowledgeBase.open(path) as kb:
        kb.add([Document("new", "Fix the pump of the tern.")])
    assert len(retriever.run(query="fix the pump")["documents"]) == len(first["documents"]) + 1
    assert len(asked) == before + 1


def test_without_the_switch_every_question_is_run(path, asked):
    retriever = RecipeRetriever(knowledge_base=path, recipe="knowledge")
    assert retriever.run(query="fix the pump") == retriever.run(query="fix the pump")
    assert len(asked) == 2


def test_the_switch_is_written_and_survives_pickling(path):
    retriever = RecipeRetriever(knowledge_base=path, recipe="knowledge", cache_seconds=60)
    data = component_to_dict(retriever, "r")
    assert data["init_parameters"]["cache_seconds"] == 60
    assert component_to_dict(component_from_dict(RecipeRetriever, data, "r"), "r") == data
    again = pickle.loads(pickle.dumps(retriever))
    assert again.run(query="fix the pump") == retriever.run(query="fix the pump")
    with pytest.raises(ValueError, match="seconds must be above 0"):
        RecipeRetriever(knowledge_base=path, cache_seconds=0)


def test_what_does_not_say_when_it_changes_is_not_cached(path):
    store = InMemoryDocumentStore()
    for others in ({"document_store": store}, {"upstream": ["text"]}, {"document_store": store, "graph": "graph.db"}):
        with pytest.raises(ValueError, match="cache_seconds: is not allowed with upstream, graph or a document_store"):
            RecipeRetriever(knowledge_base=path, recipe="knowledge", cache_seconds=60, **others)
    own = HopweaveDocumentStore(path)
    assert RecipeRetriever(document_store=own, recipe="knowledge", cache_seconds=60).cache_seconds == 60
