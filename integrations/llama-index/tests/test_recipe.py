"""Recipes as retrievers and as query engines of native parts."""

import asyncio

import pytest
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, QueryBundle
from llama_index.core.vector_stores import MetadataFilters
from llama_index.query_engine.hopweave import GatedQueryEngine, RecipeQueryEngine, load_query_engine
from llama_index.response_synthesizers.hopweave import CitedSynthesizer
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave.errors import RecipeError
from hopweave.pipeline import Pipeline
from hopweave.recipe import load_recipe, recipe_names

QUESTION = "How do I restart the ferry pump after an outage?"
RECIPE = """
name: harbour
gate: {}
intent: {}
sources:
  text: {kind: bm25}
  vector: {kind: vector}
fuse: {kind: weighted}
stages:
  - {kind: noise}
  - {kind: corpus_boost}
  - {kind: importance}
  - {kind: deferral}
  - {kind: mmr, relevance_weight: 0.5}
  - {kind: remote_rerank, api_key_env: HOPWEAVE_NO_SUCH_KEY}
context: {budget_tokens: 60}
top_k: 3
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "harbour.yaml").write_text(RECIPE)
    return tmp_path / "harbour.yaml"


def pairs(nodes):
    return [(node.node_id, node.score) for node in nodes]


def of_core(recipe, kb):
    return [(hit.id, hit.score) for hit in Pipeline(recipe, kb).run(QUESTION).hits]


def test_finds_nodes_and_tells_why_without_telling_the_llm(kb):
    nodes = RecipeRetriever(kb).retrieve(QUESTION)
    assert {node.node_id for node in nodes[:2]} == {"pump", "pump-copy"}
    receipts = nodes[0].metadata["hopweave"]["receipts"]
    assert [receipt["stage"] for receipt in receipts] == ["bm25", "vector", "reciprocal_rank"]
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "receipts" not in nodes[0].node.get_content(metadata_mode=mode)


def test_opens_a_file_by_its_path(kb):
    assert pairs(RecipeRetriever(kb.path).retrieve(QUESTION)) == pairs(RecipeRetriever(kb).retrieve(QUESTION))


def test_runs_alike_with_and_without_an_event_loop(kb):
    retriever = RecipeRetriever(kb, similarity_top_k=2)
    alone = retriever.retrieve(QUESTION)
    assert asyncio.run(retriever.aretrieve(QUESTION)) == alone
    assert len(alone) == 2


def test_filters_and_tenants(kb):
    filters = MetadataFilters.from_dicts([{"key": "type", "value": "CONVO_SLACK"}])
    for found in (
        RecipeRetriever(kb, filters=filters).retrieve(QUESTION),
        RecipeRetriever(kb, tenant={"type": "CONVO_SLACK"}).retrieve(QUESTION),
        load_query_engine("hybrid", kb, filters=filters).retrieve(QueryBundle(QUESTION)),
    ):
        assert {node.node_id for node in found} == {"talk", "denial"}


def test_a_retriever_of_your_own_takes_the_place_of_a_source(kb, index):
    retriever = RecipeRetriever(kb, retrievers={"vector": index.as_retriever(similarity_top_k=2)})
    told = [node.metadata["hopweave"]["receipts"][-1]["details"] for node in retriever.retrieve(QUESTION)]
    assert sum("vector_rank" in one for one in told) == 2


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe_is_a_query_engine(name, kb, llm):
    engine = load_query_engine(name, kb, llm=llm)
    inner = engine._query_engine if isinstance(engine, GatedQueryEngine) else engine
    told = inner.retrieve(QueryBundle(QUESTION))
    core = of_core(name, kb)
    assert [node.node_id for node in told] == [key for key, _ in core]
    assert [node.score for node in told] == pytest.approx([score for _, score in core], abs=1e-9)
    assert pairs(asyncio.run(inner.aretrieve(QueryBundle(QUESTION))))[0][0] == told[0].node_id
    assert QUESTION in str(engine.query(QUESTION))
    assert engine.query(QUESTION).metadata["hopweave"]["citations"][0]["id"] == told[0].node_id


def test_a_recipe_of_your_own_with_everything(kb, llm, file):
    engine = load_query_engine(file, kb, llm=llm)
    inner = engine._query_engine
    assert isinstance(engine, GatedQueryEngine)
    assert isinstance(inner, RetrieverQueryEngine)
    assert [type(one).__name__ for one in inner._node_postprocessors] == [
        "NoisePostprocessor",
        "CorpusBoostPostprocessor",
        "ImportancePostprocessor",
        "DeferralPostprocessor",
        "MmrPostprocessor",
        "RemoteRerankPostprocessor",
    ]
    told = engine.query(QUESTION)
    core = Pipeline(file, kb).run(QUESTION)
    assert pairs(told.source_nodes) == [(hit.id, pytest.approx(hit.score, abs=1e-9)) for hit in core.hits]
    assert pairs(asyncio.run(engine.aquery(QUESTION)).source_nodes) == pairs(told.source_nodes)
    assert core.context.text in str(told)  # this language model repeats its prompt
    assert str(engine.query("Good morning!")) == "Good morning!"
    stages = [receipt["stage"] for receipt in told.source_nodes[0].metadata["hopweave"]["receipts"]]
    assert stages == [receipt.stage for receipt in core.hits[0].receipts]


def test_fifty_questions_at_once_are_as_one_alone(kb, file):
    engine = load_query_engine(file, kb)
    questions = [f"{QUESTION} {word}?" for word in ("tide", "gate", "Skua", "panel", "harbour") * 10]
    alone = [engine.query(question) for question in questions]

    async def all_at_once():
        return await asyncio.gather(*(engine.aquery(question) for question in questions))

    together = asyncio.run(all_at_once())
    assert [str(told) for told in together] == [str(told) for told in alone]
    assert [pairs(told.source_nodes) for told in together] == [pairs(told.source_nodes) for told in alone]


def test_without_a_language_model_the_best_sentences_answer(kb):
    told = load_query_engine("hybrid", kb).query("When does the tide gate open?")
    assert "The tide gate opens at six in the morning and closes at nine. [1]" in str(told)
    assert told.metadata["hopweave"]["citations"][0]["id"] == "gate"
    assert told.metadata["hopweave"]["unresolved"] == []


def test_top_k_given_wins_and_zero_is_refused_by_the_core(kb):
    engine = RecipeQueryEngine("hybrid", kb, similarity_top_k=1)
    assert len(engine.query(QUESTION).source_nodes) == 1
    with pytest.raises(ValueError, match="top_k must be at least 1, but got 0"):
        RecipeQueryEngine("hybrid", kb, similarity_top_k=0).query(QUESTION)


def test_a_recipe_that_is_not_there(kb):
    with pytest.raises(RecipeError, match="there is no recipe 'hybird'"):
        load_query_engine("hybird", kb)


def test_streaming_and_a_prompt_of_your_own(kb, llm):
    from llama_index.core import PromptTemplate

    synthesizer = CitedSynthesizer(llm, streaming=True)
    engine = RecipeQueryEngine(load_recipe("hybrid"), kb, response_synthesizer=synthesizer)
    engine.update_prompts({"response_synthesizer:text_qa_template": PromptTemplate("Q {query_str} C {context_str}")})
    told = engine.query(QUESTION)
    assert "".join(told.response_gen).startswith(f"Q {QUESTION} C [1] ")
    assert told.metadata["hopweave"]["citations"][0]["number"] == 1
