"""Every stage as a node postprocessor, in real query and chat engines."""

import asyncio
import copy
import json
import pickle
from datetime import UTC, datetime
from time import process_time

import llama_index.postprocessor.hopweave as postprocessors
import numpy as np
import pytest
from llama_index.core.callbacks import CallbackManager, CBEventType, LlamaDebugHandler
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.postprocessor.hopweave import (
    CrossEncoderPostprocessor,
    MMRPostprocessor,
    RemoteRerankPostprocessor,
    ScoreThresholdPostprocessor,
    postprocessor_for,
)
from pydantic import ValidationError

import hopweave.catalogue  # noqa: F401 - registers every stage
from hopweave.component import Stage, registered
from hopweave.errors import explain

NOW = datetime(2026, 4, 1, tzinfo=UTC)
QUESTION = "How do I restart the ferry pump after an outage?"
STAGES = registered(Stage)
PARAMETERS = {
    "time_decay": {"now": NOW},
    "metadata_filter": {"types": ("DOC_RUNBOOK", "DOC_README")},
    "freshness": {"now": NOW},
    "score_threshold": {"min_score": 0.2},
    "recency_boost": {"now": NOW},
}


def of_kind(kind):
    return getattr(postprocessors, f"{STAGES[kind].__name__}Postprocessor")


@pytest.fixture(params=sorted(STAGES))
def postprocessor(request):
    if request.param == "cross_encoder":
        return of_kind("cross_encoder")(model=request.getfixturevalue("cross_encoder"))
    return of_kind(request.param)(**PARAMETERS.get(request.param, {}))


@pytest.fixture
def scored(nodes):
    return [NodeWithScore(node=node, score=0.9 - place / 10) for place, node in enumerate(nodes)]


@pytest.mark.parametrize("kind", STAGES)
def test_parameters_and_defaults_are_those_of_the_core(kind):
    adapter, core = of_kind(kind).model_fields, STAGES[kind].model_fields
    assert {name: adapter[name].get_default(call_default_factory=True) for name in core} == {
        name: field.get_default(call_default_factory=True) for name, field in core.items()
    }
    extra = adapter.keys() - core.keys()
    assert extra <= {
        "callback_manager",
        "knowledge_base",
        "tenant",
        "now",
        "vector_store",
        "embed_model",
        "lexical_fallback",
        "top_n",
    }


def test_survives_a_round_trip_as_data(postprocessor):
    data = json.loads(postprocessor.to_json())
    assert data["class_name"] == type(postprocessor).__name__
    assert type(postprocessor).from_dict(data).to_dict() == postprocessor.to_dict()


def test_survives_pickling_and_copying(postprocessor):
    for again in (pickle.loads(pickle.dumps(postprocessor)), copy.deepcopy(postprocessor), postprocessor.model_copy()):
        assert again.to_dict() == postprocessor.to_dict()


def test_a_misspelt_parameter_is_refused(postprocessor):
    with pytest.raises(ValidationError) as fault:
        type(postprocessor)(tpo_k=1)
    assert explain(fault.value).startswith("tpo_k: unknown key; allowed are ")


def test_nodes_stay_as_they_were_and_async_agrees(postprocessor, scored):
    before = [(one.model_dump_json(), one.node.hash) for one in scored]
    bundle = QueryBundle(QUESTION)
    alone = postprocessor.postprocess_nodes(scored, bundle)
    assert [(one.model_dump_json(), one.node.hash) for one in scored] == before
    assert asyncio.run(postprocessor.apostprocess_nodes(scored, bundle)) == alone
    assert alone
    for node in alone:
        assert "receipts" not in node.node.get_content(MetadataMode.LLM) + node.node.get_content(MetadataMode.EMBED)


def test_nothing_in_nothing_out(postprocessor):
    assert postprocessor.postprocess_nodes([], query_str=QUESTION) == []
    assert asyncio.run(postprocessor.apostprocess_nodes([])) == []


def test_serves_a_query_engine_and_a_chat_engine(postprocessor, index, llm):
    retriever = index.as_retriever(similarity_top_k=6)
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=[postprocessor])
    response = engine.query(QUESTION)
    assert response.source_nodes
    assert response.source_nodes[0].node.text in str(response)
    again = asyncio.run(engine.aquery(QUESTION))
    assert [node.node_id for node in again.source_nodes] == [node.node_id for node in response.source_nodes]
    chat = ContextChatEngine.from_defaults(retriever=retriever, llm=llm, node_postprocessors=[postprocessor])
    assert chat.chat(QUESTION).source_nodes
    assert asyncio.run(chat.achat(QUESTION)).source_nodes


def test_fifty_at_once_are_as_one_alone(postprocessor, scored):
    questions = [QueryBundle(f"{QUESTION} {number}") for number in range(50)]
    alone = [postprocessor.postprocess_nodes(scored, question) for question in questions]

    async def all_at_once():
        return await asyncio.gather(*(postprocessor.apostprocess_nodes(scored, question) for question in questions))

    assert asyncio.run(all_at_once()) == alone


def test_leaves_spans(postprocessor, scored, heard):
    _, spans = heard
    postprocessor.postprocess_nodes(scored, query_str=QUESTION)
    asyncio.run(postprocessor.apostprocess_nodes(scored, query_str=QUESTION))
    names = [span.id_.rsplit("-", 5)[0] for span in spans.completed_spans]
    assert {
        f"{type(postprocessor).__name__}._postprocess_nodes",
        f"{type(postprocessor).__name__}._apostprocess_nodes",
    } <= set(names)


def test_the_event_loop_goes_on_meanwhile(scored):
    from threading import Event

    from hopweave.stages.filter.score_threshold import ScoreThreshold

    loop_went_on = Event()

    class Slow(ScoreThreshold):
        def apply(self, hits, query, knowledge=None):
            return list(hits) if loop_went_on.wait(30) else []

    async def meanwhile():
        work = asyncio.ensure_future(postprocessor_for(Slow()).apostprocess_nodes(scored))
        await asyncio.sleep(0.01)
        loop_went_on.set()
        return await work

    assert len(asyncio.run(meanwhile())) == len(scored)


def test_rerankers_tell_what_they_do(scored, heard, cross_encoder):
    events, _ = heard
    debug = LlamaDebugHandler(print_trace_on_end=False)
    reranker = CrossEncoderPostprocessor(model=cross_encoder, top_n=2, callback_manager=CallbackManager([debug]))
    kept = reranker.postprocess_nodes(scored, query_str=QUESTION)
    start, end = [event for event in events if event.class_name().startswith("ReRank")]
    assert (start.top_n, start.model_name, start.nodes) == (2, cross_encoder, scored)
    assert end.nodes == kept
    assert len(kept) == 2
    assert len(debug.get_event_pairs(CBEventType.RERANKING)) == 1


def test_no_secret_is_written(scored, heard, monkeypatch):
    events, _ = heard
    secret = "sk-very-secret-4711"
    reranker = RemoteRerankPostprocessor(
        provider="generic", url="http://127.0.0.1:9/rerank", api_key=secret, max_retries=0
    )
    found = reranker.postprocess_nodes(scored, query_str=QUESTION)
    shown = [
        reranker.to_json(),
        repr(reranker),
        str(reranker),
        str(events),
        *(node.model_dump_json() for node in found),
    ]
    assert not any(secret in text for text in shown)
    assert found[0].metadata["hopweave"]["receipts"][-1]["details"]["outcome"] == "original_order"


def test_bad_values_are_refused_in_the_words_of_the_core():
    for make in (STAGES["score_threshold"], ScoreThresholdPostprocessor):
        with pytest.raises(ValidationError) as fault:
            make(min_score=3)
        assert explain(fault.value) == "min_score: 3 is not allowed: input should be less than or equal to 1"


def test_bounds_hold_for_assignments_too():
    postprocessor = ScoreThresholdPostprocessor()
    postprocessor.min_score = 0.2
    with pytest.raises(ValidationError):
        postprocessor.min_score = 3
    assert postprocessor.min_score == 0.2


def test_a_stage_of_your_own_becomes_a_postprocessor(scored):
    from typing import Literal

    class Reversed(Stage):
        kind: Literal["reversed"] = "reversed"

        def apply(self, hits, query, knowledge=None):
            return list(hits)[::-1]

    found = postprocessor_for(Reversed()).postprocess_nodes(scored)
    assert isinstance(postprocessor_for(Reversed()), BaseNodePostprocessor)
    assert [node.node_id for node in found] == [node.node_id for node in scored][::-1]


def vectors_from(nodes):
    return {node.node_id: node.metadata["hopweave"]["receipts"][-1]["details"]["vector_from"] for node in nodes}


def test_vectors_are_sought_in_four_places(scored, index, embed_model):
    calls = []

    class Counting(type(embed_model)):
        def _get_text_embeddings(self, texts):
            calls.append(len(texts))
            return super()._get_text_embeddings(texts)

    own = embed_model.get_text_embedding(scored[0].node.text)
    first = scored[0].node.model_copy(update={"embedding": own})
    mixed = [NodeWithScore(node=first, score=0.9), *scored[1:]]
    assert set(vectors_from(MMRPostprocessor().postprocess_nodes(scored)).values()) == {"lexical"}
    assert vectors_from(MMRPostprocessor(lexical_fallback=False).postprocess_nodes(mixed))["skua"] is None
    stored = MMRPostprocessor(vector_store=index).postprocess_nodes(mixed)
    assert vectors_from(stored) == {"pump": "hit", **dict.fromkeys([n.node_id for n in scored[1:]], "knowledge")}
    some = {"skua": embed_model.get_text_embedding("The Skua")}
    made = MMRPostprocessor(vector_store=lambda ids: some, embed_model=Counting()).postprocess_nodes(mixed)
    assert vectors_from(made)["skua"] == "knowledge"
    assert vectors_from(made)["gate"] == "embedder"
    assert calls == [4]  # one call for the four that are found nowhere
    for way in (MMRPostprocessor(), MMRPostprocessor(vector_store=index.vector_store)):
        assert way.postprocess_nodes(scored)[1].node_id != "pump-copy"


@pytest.mark.parametrize("make", [MMRPostprocessor, postprocessors.DeferralPostprocessor])
def test_ten_thousand_nodes_take_less_than_a_second(make):
    random = np.random.default_rng(3)
    many = [
        NodeWithScore(
            node=TextNode(id_=str(place), text=f"Gate {place} opens.", embedding=random.normal(size=64).tolist()),
            score=1 - place / 10_000,
        )
        for place in range(10_000)
    ]
    seconds = []
    for _ in range(3):  # a busy machine fails only if it is busy three times
        started = process_time()
        found = make().postprocess_nodes(many)
        seconds.append(process_time() - started)
        assert len(found) == 10_000
    assert min(seconds) < 1
    assert [node.node_id for node in found[500:]] == [str(place) for place in range(500, 10_000)]
