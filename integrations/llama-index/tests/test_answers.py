"""How query engines answer: streams, models of pydantic, response modes, postprocessors of the user's own."""

import asyncio

import pytest
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.query_engine.hopweave import GateQueryEngine, load_query_engine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer

from hopweave.recipe import load_recipe

QUESTION = "When does the tide gate open?"
GATED = load_recipe("hybrid").model_copy(update={"gate": load_recipe("memory").gate})


async def streamed(engine, question):
    response = await engine.aquery(question)
    assert isinstance(response, AsyncStreamingResponse)
    return response, "".join([part async for part in response.response_gen])


def test_streams_with_a_language_model_and_without(kb, llm):
    for language_model in (llm, None):
        engine = load_query_engine("hybrid", kb, llm=language_model, streaming=True)
        response = engine.query(QUESTION)
        assert isinstance(response, StreamingResponse)
        parts = list(response.response_gen)
        assert len(parts) > 3
        assert "opens at six in the morning" in "".join(parts)
        assert response.metadata["hopweave"]["citations"][0]["id"] == "gate"
        assert response.source_nodes[0].node_id == "gate"
        again, text = asyncio.run(streamed(engine, QUESTION))
        assert text == "".join(parts)
        assert again.metadata["hopweave"]["citations"][0]["id"] == "gate"


@pytest.mark.parametrize("language_model", [MockLLM(), None])
def test_a_gate_streams_if_the_engine_behind_it_does(kb, language_model):
    engine = load_query_engine(GATED, kb, llm=language_model, streaming=True)
    assert isinstance(engine, GateQueryEngine)
    expected = "How can I help you?" if language_model is None else "Good morning!"
    response = engine.query("Good morning!")
    assert "".join(response.response_gen) == expected
    assert response.metadata["gate"]["rule"] == "greeting"
    assert asyncio.run(streamed(engine, "Good morning!"))[1] == expected
    question = engine.query(QUESTION)
    assert "six" in "".join(question.response_gen)
    assert question.metadata["gate"]["retrieve"] is True
    assert str(load_query_engine(GATED, kb, llm=language_model).query("Good morning!")) == expected


def test_streaming_of_a_gate_can_be_set(index, llm):
    behind = RetrieverQueryEngine.from_args(index.as_retriever(), llm=llm, streaming=True)
    assert "".join(GateQueryEngine(behind).query("Good morning!").response_gen) == "How can I help you?"
    assert GateQueryEngine(behind, streaming=False).query("Good morning!").response == "How can I help you?"
    assert "".join(GateQueryEngine(index.as_query_engine(llm=llm), streaming=True).query("Hello!").response_gen)


class Opening(BaseModel):
    """When something opens."""

    hour: int


class Scripted(MockLLM):
    """A language model that answers in JSON, which LlamaIndex reads into a model of pydantic."""

    def complete(self, prompt, formatted=False, **kwargs):
        answer = super().complete(prompt, formatted, **kwargs)
        return answer.model_copy(update={"text": '{"hour": 6}'}) if "JSON" in prompt else answer

    async def acomplete(self, prompt, formatted=False, **kwargs):
        return self.complete(prompt, formatted, **kwargs)


def test_answers_are_models_of_pydantic_if_wanted(kb):
    engine = load_query_engine("hybrid", kb, llm=Scripted(), output_cls=Opening)
    for response in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        assert isinstance(response, PydanticResponse)
        assert response.response == Opening(hour=6)
        assert response.metadata["hopweave"]["citations"][0]["id"] == "gate"
    assert "JSON" not in str(load_query_engine("hybrid", kb, llm=MockLLM()).query(QUESTION))


@pytest.mark.parametrize("mode", ["refine", "compact", "tree_summarize", ResponseMode.ACCUMULATE])
def test_response_modes_of_llama_index(kb, llm, mode):
    response = load_query_engine("hybrid", kb, llm=llm, response_mode=mode).query(QUESTION)
    assert "The tide gate opens at six" in str(response)
    assert "[1]" not in str(response)
    assert response.source_nodes[0].node_id == "gate"


def test_response_modes_that_need_no_language_model(kb):
    assert str(load_query_engine("hybrid", kb, response_mode="no_text").query(QUESTION)) in ("", "None")
    text = str(load_query_engine("hybrid", kb, response_mode="context_only").query(QUESTION))
    assert "The tide gate opens at six" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"response_mode": "refined", "llm": MockLLM()},
            "response_mode: 'refined' is not allowed",
        ),
        ({"response_mode": "refine"}, "response_mode: 'refine' needs a language model"),
        ({"output_cls": Opening}, "output_cls: needs a language model"),
        ({"output_cls": Opening, "streaming": True, "llm": MockLLM()}, "output_cls: is not allowed with streaming"),
        (
            {"streaming": True, "response_synthesizer": ExtractiveAnswerSynthesizer()},
            "streaming: is not allowed with response_synthesizer",
        ),
        (
            {"response_mode": "no_text", "response_synthesizer": ContextBuilderSynthesizer(MockLLM())},
            "response_mode: is not allowed with response_synthesizer",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(kb, options, message):
    with pytest.raises(ValueError, match=message):
        load_query_engine("hybrid", kb, **options)


class Appended(BaseNodePostprocessor):
    """Adds a node, as LlamaIndex's own for neighbouring nodes do."""

    def _postprocess_nodes(self, nodes, query_bundle=None):
        assert query_bundle.query_str
        return [*nodes, NodeWithScore(node=TextNode(id_="more", text="One more."))]


def test_postprocessors_of_your_own_come_after_the_recipe(kb):
    plain = load_query_engine("hybrid", kb, similarity_top_k=2)
    engine = load_query_engine("hybrid", kb, similarity_top_k=2, node_postprocessors=[Appended()])
    expected = [*(node.node_id for node in plain.query(QUESTION).source_nodes), "more"]
    assert [node.node_id for node in engine.query(QUESTION).source_nodes] == expected
    assert [node.node_id for node in asyncio.run(engine.aquery(QUESTION)).source_nodes] == expected
    none = load_query_engine("hybrid", kb, node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=5.0)])
    assert none.retrieve(QueryBundle(QUESTION)) == []
    tenant = load_query_engine("hybrid", kb, node_postprocessors=[Appended()], tenant={"type": "DOC_README"})
    assert {node.node_id for node in tenant.retrieve(QueryBundle(QUESTION))} == {"gate", "skua"}
