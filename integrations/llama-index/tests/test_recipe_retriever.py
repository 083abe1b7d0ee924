"""The recipe retriever in a real LlamaIndex query engine."""

import asyncio

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave import Document, KnowledgeBase

PASSAGES = [
    Document("skua", "The Skua is a ferry built at Sørvåg.", {"type": "vessel"}),
    Document("gate", "The tide gate opens at six.", {"type": "manual"}),
    Document("plover", "The Plover is a smaller ferry.", {"type": "vessel"}),
]


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with KnowledgeBase.open(tmp_path_factory.mktemp("kb") / "kb.db") as kb:
        kb.add(PASSAGES)
        yield kb


def test_finds_nodes_and_tells_why_without_telling_the_llm(kb):
    nodes = RecipeRetriever(kb).retrieve("ferry")
    assert {node.node_id for node in nodes[:2]} == {"skua", "plover"}
    receipts = nodes[0].metadata["hopweave"]["receipts"]
    assert [receipt["stage"] for receipt in receipts] == ["bm25", "vector", "reciprocal_rank"]
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "receipts" not in nodes[0].node.get_content(metadata_mode=mode)


def test_opens_a_file_by_its_path(kb):
    assert RecipeRetriever(kb.path).retrieve("ferry")[0].score == RecipeRetriever(kb).retrieve("ferry")[0].score


def test_runs_alike_with_and_without_an_event_loop(kb):
    retriever = RecipeRetriever(kb, similarity_top_k=2)
    alone = retriever.retrieve("tide gate")
    assert asyncio.run(retriever.aretrieve("tide gate")) == alone
    assert len(alone) == 2


def test_serves_a_query_engine(kb):
    engine = RetrieverQueryEngine.from_args(RecipeRetriever(kb, similarity_top_k=1), llm=MockLLM())
    assert "The tide gate opens at six." in str(engine.query("When does the tide gate open?"))
