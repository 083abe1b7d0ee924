"""Every source as a retriever, alone, in query engines, routers and LlamaIndex's own fusion."""

import asyncio

import llama_index.retrievers.hopweave as retrievers
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine, RouterQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever, RouterRetriever
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters
from llama_index.retrievers.hopweave import BM25Retriever, VectorSearchRetriever
from llama_index.selectors.hopweave import IntentSelector
from pydantic import ValidationError

import hopweave.catalogue  # noqa: F401 - registers every source
from hopweave.component import Source, registered
from hopweave.errors import explain
from hopweave.query import Query
from hopweave.routing.intent import IntentClassifier

SOURCES = registered(Source)
QUESTION = "How do I restart the ferry pump after an outage?"


def pairs(nodes):
    return [(node.node_id, node.score) for node in nodes]


def of_kind(kind):
    ready = [getattr(retrievers, name) for name in retrievers.__all__]
    return {one.source_class: one for one in ready if hasattr(one, "source_class")}[SOURCES[kind]]


def core_hits(kind, kb):
    source = SOURCES[kind](top_k=3)
    own = {"text": SOURCES["bm25"](), "vector": SOURCES["vector"]()}
    question = Query(QUESTION).understood(intent=IntentClassifier().classify(QUESTION))
    upstream = {name: own[name].search(question, kb) for name in source.needs}
    return source.search(question, kb, upstream)


@pytest.fixture(params=sorted(SOURCES))
def kind(request):
    return request.param


@pytest.fixture
def retriever(kind, kb):
    return of_kind(kind)(kb, similarity_top_k=3, intent=IntentClassifier())


def test_finds_what_the_core_finds(kind, retriever, kb):
    hits = core_hits(kind, kb)
    assert hits
    found = retriever.retrieve(QUESTION)
    assert pairs(found) == [(hit.id, hit.score) for hit in hits]
    assert [node.metadata["hopweave"]["receipts"] for node in found] == [
        [receipt.as_dict() for receipt in hit.receipts] for hit in hits
    ]


def test_async_agrees_and_leaves_spans(retriever, heard):
    _, spans = heard
    alone = retriever.retrieve(QUESTION)
    assert asyncio.run(retriever.aretrieve(QUESTION)) == alone
    name = type(retriever).__name__
    assert {f"{name}._retrieve", f"{name}._aretrieve"} <= {span.id_.split("-")[0] for span in spans.completed_spans}


def test_fifty_at_once_are_as_one_alone(retriever):
    questions = [f"{QUESTION} {word}" for word in ("tide", "gate", "Skua", "panel", "harbour") * 10]
    alone = [retriever.retrieve(question) for question in questions]

    async def all_at_once():
        return await asyncio.gather(*(retriever.aretrieve(question) for question in questions))

    assert asyncio.run(all_at_once()) == alone


def test_nothing_to_ask_nothing_to_find(retriever):
    assert retriever.retrieve(QueryBundle("  ")) == []


def test_bad_values_are_refused_in_the_words_of_the_core(kind, kb):
    with pytest.raises(ValidationError) as fault:
        of_kind(kind)(kb, similarity_top_k=0)
    with pytest.raises(ValidationError) as core:
        SOURCES[kind](top_k=0)
    assert explain(fault.value) == explain(core.value)
    with pytest.raises(ValidationError) as fault:
        of_kind(kind)(kb, tpo_k=1)
    assert explain(fault.value).startswith("tpo_k: unknown key; allowed are ")


def test_filters_fetch_more_until_there_are_enough(kind, kb):
    filters = MetadataFilters(
        filters=[
            MetadataFilter(key="type", value="DOC_RUNBOOK", operator=FilterOperator.NE),
            MetadataFilters(
                filters=[
                    MetadataFilter(key="importance", value=0.75, operator=FilterOperator.GTE),
                    MetadataFilter(key="community", value=["land"], operator=FilterOperator.IN),
                ],
                condition=FilterCondition.OR,
            ),
        ]
    )
    found = of_kind(kind)(kb, similarity_top_k=1, filters=filters, intent=IntentClassifier()).retrieve(QUESTION)
    assert [node.node_id for node in found] != []
    assert {node.node_id for node in found} <= {"skua", "talk"}


def test_a_tenant_is_isolated(kind, kb):
    found = of_kind(kind)(kb, tenant={"corpus_type": "CONVO_SLACK"}, intent=IntentClassifier()).retrieve(QUESTION)
    assert {node.node_id for node in found} <= {"talk", "denial"}
    assert found


def test_serves_query_engine_router_chat_and_stock_fusion(retriever, llm):
    engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    response = engine.query(QUESTION)
    assert "panel four" in str(response)
    assert pairs(asyncio.run(engine.aquery(QUESTION)).source_nodes) == pairs(response.source_nodes)
    tools = [RetrieverTool.from_defaults(retriever, name=name, description="?") for name in ("debugging", "other")]
    router = RouterRetriever(selector=IntentSelector(default="other"), retriever_tools=tools, llm=llm)
    assert {node.node_id for node in router.retrieve(QUESTION)} == {node.node_id for node in response.source_nodes}
    tools = [QueryEngineTool.from_defaults(engine, name=name, description="?") for name in ("other", "debugging")]
    routed = RouterQueryEngine(IntentSelector(default="other"), tools, llm=llm).query("Why does the pump crash?")
    assert routed.metadata["selector_result"].ind == 1
    fused = QueryFusionRetriever([retriever, retriever], llm=llm, num_queries=1, mode="reciprocal_rerank")
    assert fused.retrieve(QUESTION)
    assert asyncio.run(fused.aretrieve(QUESTION))
    chat = ContextChatEngine.from_defaults(retriever=retriever, llm=llm)
    assert pairs(chat.chat(QUESTION).source_nodes) == pairs(response.source_nodes)


def test_an_embedding_left_in_the_bundle_by_another_model_does_no_harm(kb):
    bundle = QueryBundle(QUESTION, embedding=[1.0, 0.0])
    assert pairs(VectorSearchRetriever(kb).retrieve(bundle)) == pairs(VectorSearchRetriever(kb).retrieve(QUESTION))


def test_keywords_of_the_intent_count_more(kb):
    plain, keen = (BM25Retriever(kb, intent=intent) for intent in (None, IntentClassifier()))
    question = "fix the outage of the ferry"
    assert pairs(plain.retrieve(question)) != []
    receipts = keen.retrieve(question)[0].metadata["hopweave"]["receipts"]
    assert receipts[0]["stage"] == "bm25"


def test_opens_a_file_by_its_path(kb):
    assert pairs(BM25Retriever(kb.path).retrieve(QUESTION)) == pairs(BM25Retriever(str(kb.path)).retrieve(QUESTION))


def test_texts_of_a_query_transformation_are_embedded_instead(kb, embed_model):
    retriever = VectorSearchRetriever(kb, similarity_top_k=2)
    made_up = ["The gate opens at six with the tide.", "The tide gate closes at nine."]
    found = retriever.retrieve(QueryBundle("xyzzy", custom_embedding_strs=made_up))
    assert found[0].node_id == "gate"
    plain = [TextNode(id_=key, text=hit.text) for key, hit in kb.get(kb.ids()).items()]
    stock = VectorStoreIndex(plain, embed_model=embed_model).as_retriever(similarity_top_k=2)
    expected = stock.retrieve(QueryBundle("xyzzy", custom_embedding_strs=made_up))
    assert [node.node_id for node in found] == [node.node_id for node in expected]
    assert [node.score for node in found] == pytest.approx([node.score for node in expected], abs=1e-5)
    transformed = HyDEQueryTransform(MockLLM(), include_original=True)("When does the tide gate open?")
    assert len(transformed.custom_embedding_strs) == 2
    assert asyncio.run(retriever.aretrieve(transformed))[0].node_id == "gate"
