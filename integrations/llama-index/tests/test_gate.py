"""A greeting needs no retrieval and still gets an answer."""

import asyncio

from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import QueryBundle
from llama_index.query_engine.hopweave import GateQueryEngine
from llama_index.retrievers.hopweave import GateRetriever

from hopweave.routing.gate import Gate

QUESTION = "[cron:daily] When does the tide gate open?"


def test_the_retriever_finds_nothing_for_a_greeting(index):
    retriever = GateRetriever(index.as_retriever())
    assert retriever.retrieve("Good morning!") == []
    assert asyncio.run(retriever.aretrieve("Good morning!")) == []
    assert retriever.retrieve(QUESTION) == index.as_retriever().retrieve("When does the tide gate open?")
    assert asyncio.run(retriever.aretrieve(QUESTION)) == retriever.retrieve(QUESTION)
    assert GateRetriever(index.as_retriever(), Gate(enabled=False)).retrieve("Good morning!") != []


def test_the_query_engine_answers_a_greeting(index, llm):
    behind = RetrieverQueryEngine.from_args(index.as_retriever(), llm=llm)
    engine = GateQueryEngine(behind, llm=llm)
    for response in (engine.query("Good morning!"), asyncio.run(engine.aquery("Good morning!"))):
        assert str(response) == "Good morning!"  # what this language model has to say
        assert response.source_nodes == []
        assert response.metadata["gate"]["rule"] == "greeting"
    assert str(GateQueryEngine(behind).query("Good morning!")) == "How can I help you?"
    assert str(RetrieverQueryEngine.from_args(GateRetriever(index.as_retriever()), llm=llm).query("Good morning!")) == (
        "Empty Response"
    )


def test_the_query_engine_passes_questions_on(index, llm):
    engine = GateQueryEngine(RetrieverQueryEngine.from_args(index.as_retriever(), llm=llm), llm=llm)
    for response in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        assert "opens at six" in str(response)
        assert response.metadata["gate"]["retrieve"] is True
        assert "[cron" not in str(response)
    found = engine.retrieve(QueryBundle(QUESTION))
    assert [node.node_id for node in found] == [node.node_id for node in response.source_nodes]
    assert asyncio.run(engine.aretrieve(QueryBundle(QUESTION))) == found
    assert engine.retrieve(QueryBundle("Good morning!")) == []
    assert asyncio.run(engine.aretrieve(QueryBundle("Good morning!"))) == []
