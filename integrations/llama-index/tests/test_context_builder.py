"""Cited answers from nodes of any retriever."""

import asyncio
from typing import Any

from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer

from hopweave.context.context_builder import ContextBuilder

QUESTION = "When does the tide gate open?"


class Scripted(CustomLLM):
    """Returns fixed replies and keeps its prompts."""

    reply: str
    prompts: list = []  # noqa: RUF012 - a pydantic field

    @property
    def metadata(self):
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        self.prompts.append(prompt)
        return CompletionResponse(text=self.reply)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        raise NotImplementedError


def test_numbers_lead_to_nodes_or_are_reported(index):
    llm = Scripted(reply="At six [1], they say [9].")
    engine = RetrieverQueryEngine(index.as_retriever(similarity_top_k=3), ContextBuilderSynthesizer(llm))
    for response in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        cited = response.metadata["hopweave"]
        assert cited["unresolved"] == [9]
        assert cited["citations"][0]["id"] == response.source_nodes[0].node_id == "gate"
        assert cited["sources"].splitlines()[0] == "[1] gate"
    assert len(llm.prompts) == 2
    assert llm.prompts[0].endswith(f"Question: {QUESTION}")
    assert "[1] gate\nThe tide gate opens at six" in llm.prompts[0]


def test_the_budget_holds(index):
    llm = Scripted(reply="[1]")
    context = ContextBuilder(budget_tokens=16, counter="words")
    response = RetrieverQueryEngine(
        index.as_retriever(similarity_top_k=3), ContextBuilderSynthesizer(llm, context=context)
    ).query(QUESTION)
    assert len(response.metadata["hopweave"]["dropped"]) == 2


def test_nothing_found_is_said_without_asking_the_model():
    llm = Scripted(reply="never")
    assert str(ContextBuilderSynthesizer(llm).synthesize("?", [])) == "Empty Response"
    assert llm.prompts == []


def test_extracts_answers_word_for_word(index):
    engine = RetrieverQueryEngine(index.as_retriever(similarity_top_k=3), ExtractiveAnswerSynthesizer())
    response = engine.query(QUESTION)
    assert "The tide gate opens at six in the morning and closes at nine. [1]" in str(response)
    assert str(asyncio.run(engine.aquery(QUESTION))) == str(response)
    assert str(engine.query("zzz")) == "The passages found do not answer the question."
