"""Embedding models, ours in LlamaIndex and LlamaIndex's in ours."""

import asyncio

import pytest
from llama_index.core import MockEmbedding
from llama_index.embeddings.hopweave import StaticEmbedding
from llama_index.hopweave import to_embedder

from hopweave import Document, KnowledgeBase
from hopweave.vector.embedders import StaticEmbedder


def test_embeds_as_the_core_does():
    model = StaticEmbedding()
    expected = StaticEmbedder().embed(["ferry", "ship"])
    assert model.get_text_embedding_batch(["ferry", "ship"]) == expected.tolist()
    assert model.get_query_embedding("ferry") == expected[0].tolist()
    assert asyncio.run(model.aget_text_embedding_batch(["ferry", "ship"])) == expected.tolist()
    assert asyncio.run(model.aget_query_embedding("ship")) == expected[1].tolist()
    assert model.model_name == StaticEmbedder().model_name


def test_survives_a_round_trip_as_data():
    model = StaticEmbedding(embed_batch_size=7)
    again = StaticEmbedding.from_dict(model.to_dict())
    assert again.embed_batch_size == 7
    assert again.get_text_embedding("ferry") == model.get_text_embedding("ferry")


def test_any_model_serves_a_knowledge_base(tmp_path):
    assert to_embedder(StaticEmbedding()) == StaticEmbedder()  # so that the file opens without naming it
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=to_embedder(MockEmbedding(4))) as kb:
        kb.add([Document("a", "text")])
        assert kb.vectors(["a"])["a"].tolist() == [0.5] * 4
        assert kb.embed("question")[1].shape == (4,)
    assert to_embedder(MockEmbedding(4)).model_name == MockEmbedding(4).model_name
    with pytest.raises(AttributeError):
        to_embedder("MiniLM")
