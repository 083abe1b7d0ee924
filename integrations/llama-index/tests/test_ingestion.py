"""Ingestion pipelines that write a knowledge base."""

import asyncio

import pytest
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave import KnowledgeBase

DOCUMENTS = [
    Document(id_="skua", text="MV Skua was designed by Ingrid Falk.", metadata={"title": "MV Skua"}),
    Document(id_="falk", text="Ingrid Falk was born in Lunn.", metadata={"title": "Ingrid Falk"}),
]


@pytest.fixture
def kb():
    with KnowledgeBase.open() as kb:
        yield kb


def test_writes_documents_vectors_and_graph(kb):
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), KnowledgeBaseWriter(knowledge_base=kb)])
    nodes = pipeline.run(documents=DOCUMENTS)
    assert kb.ids() == [node.node_id for node in nodes]
    assert len(kb.vectors(kb.ids())) == 2
    assert kb.graph.lookup(["ingrid falk"])
    found = RecipeRetriever(kb).retrieve("Who was born in Lunn?")
    assert found[0].node.ref_doc_id == "falk"
    assert asyncio.run(pipeline.arun(documents=DOCUMENTS)) == nodes
    assert kb.count() == 2


def test_the_cache_never_skips_a_write_that_is_still_to_be_done(kb):
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), KnowledgeBaseWriter(knowledge_base=kb)])
    pipeline.run(documents=DOCUMENTS)
    kb.delete(kb.ids())
    pipeline.run(documents=DOCUMENTS)
    assert kb.count() == 2


def test_embeddings_made_on_the_way_are_kept(kb, embed_model):
    writer = KnowledgeBaseWriter(knowledge_base=kb)
    nodes = IngestionPipeline(transformations=[embed_model, writer]).run(documents=DOCUMENTS)
    assert kb.vectors(["skua"])["skua"].tolist() == pytest.approx(nodes[0].embedding)
