"""Embedding models, ours in LlamaIndex and LlamaIndex's in ours."""

import asyncio

import pytest
from llama_index.core import MockEmbedding, Settings
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.embeddings.hopweave import GraphEmbedding, OnnxEmbedding, RemoteEmbedding, StaticEmbedding
from llama_index.hopweave import to_embedder
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.postprocessor.hopweave import RemoteRerankPostprocessor, ScoreThresholdPostprocessor
from llama_index.retrievers.hopweave import VectorSearchRetriever
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import Document, KnowledgeBase
from hopweave.errors import EmbeddingError, KnowledgeBaseError, SourceFailed
from hopweave.knowledge_base.train_embedder import load_embedder
from hopweave.vector.embedders import StaticEmbedder
from hopweave.vector.onnx import OnnxEmbedder
from hopweave.vector.remote_embedder import RemoteEmbedder


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


def test_graph_embeds_as_the_core_does_and_survives_a_round_trip(trained_file):
    model, core = GraphEmbedding(knowledge_base=trained_file), load_embedder(trained_file)
    assert model.get_text_embedding("Skua") == core.embed(["Skua"])[0].tolist()
    assert GraphEmbedding.from_dict(model.to_dict()).model_name == core.model_name
    assert to_embedder(model) == core


def test_a_file_without_an_embedder_of_its_own_is_refused(tmp_path):
    KnowledgeBase.open(tmp_path / "plain.db").close()
    with pytest.raises(KnowledgeBaseError, match="has no embedder of its own; run: hopweave train-embedder"):
        GraphEmbedding(knowledge_base=str(tmp_path / "plain.db"))


def test_onnx_embeds_as_the_core_does(onnx_minilm):
    model = OnnxEmbedding(model=onnx_minilm, query_prompt="query: ", document_prompt="passage: ")
    core = OnnxEmbedder(model=onnx_minilm, query_prompt="query: ", document_prompt="passage: ")
    assert model.get_text_embedding_batch(["ferry", "ship"]) == pytest.approx(core.embed(["ferry", "ship"]), abs=1e-5)
    assert model.get_query_embedding("ferry") == pytest.approx(core.embed_queries(["ferry"])[0], abs=1e-5)
    assert asyncio.run(model.aget_query_embedding("ferry")) == pytest.approx(model.get_query_embedding("ferry"))
    assert model.model_name == core.model_name
    assert to_embedder(model) == core


def test_onnx_survives_a_round_trip_as_data(onnx_minilm):
    model = OnnxEmbedding(model=onnx_minilm, query_prompt="query: ", max_tokens=64, embed_batch_size=7)
    data = model.to_dict()
    again = OnnxEmbedding.from_dict(data)
    assert again.to_dict() == data
    assert to_embedder(again) == OnnxEmbedder(model=onnx_minilm, query_prompt="query: ", max_tokens=64)


def test_onnx_parameters_are_the_cores(onnx_minilm):
    for name, field in OnnxEmbedder.model_fields.items():
        if name != "kind":
            own = OnnxEmbedding.model_fields[name]
            assert (own.annotation, own.default, own.description) == (
                field.annotation,
                field.default,
                field.description,
            )
    with pytest.raises(ValueError, match="max_tokens"):
        OnnxEmbedding(model=onnx_minilm, max_tokens=1)
    with pytest.raises(ValueError, match="poolign"):
        OnnxEmbedding(model=onnx_minilm, poolign="cls")
    with pytest.raises(EmbeddingError, match="never downloaded"):
        OnnxEmbedding(model="intfloat/multilingual-e5-small")


def test_remote_embeds_as_the_core_does(embedding_url):
    model = RemoteEmbedding(url=embedding_url, query_prompt="query: ", batch_size=2)
    core = RemoteEmbedder(url=embedding_url, query_prompt="query: ")
    texts = ["a ferry", "the gate", "a ship"]
    assert model.get_text_embedding_batch(texts) == core.embed(texts).tolist()
    assert model.get_query_embedding("ferry") == core.embed_queries(["ferry"])[0].tolist()
    assert asyncio.run(model.aget_query_embedding("ferry")) == model.get_query_embedding("ferry")
    assert model.model_name == core.model_name
    assert to_embedder(model) == core.changed(batch_size=2)


def test_remote_survives_a_round_trip_as_data_without_its_key(embedding_url):
    model = RemoteEmbedding(url=embedding_url, api_key="sk-7d1", api_key_env="MY_KEY", dimensions=2)
    data = model.to_dict()
    assert "sk-7d1" not in f"{data} {model!r} {model.to_json()}"
    again = RemoteEmbedding.from_dict(data)
    assert again.to_dict() == data
    assert to_embedder(again) == RemoteEmbedder(url=embedding_url, api_key_env="MY_KEY", dimensions=2)
    with pytest.raises(ValueError, match="batch_size") as failure:
        RemoteEmbedding(api_key="sk-7d1", batch_size=0)
    assert "sk-7d1" not in str(failure.value)


def test_remote_parameters_are_the_cores():
    for name, field in RemoteEmbedder.model_fields.items():
        if name != "kind":
            own = RemoteEmbedding.model_fields[name]
            assert (own.annotation, own.default, own.description) == (
                field.annotation,
                field.default,
                field.description,
            )


def test_any_model_serves_a_knowledge_base(tmp_path):
    assert to_embedder(StaticEmbedding()) == StaticEmbedder()  # so that the file opens without naming it
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=to_embedder(MockEmbedding(4))) as kb:
        kb.add([Document("a", "text")])
        assert kb.vectors(["a"])["a"].tolist() == [0.5] * 4
        assert kb.embed("question")[1].shape == (4,)
    assert to_embedder(MockEmbedding(4)).model_name.endswith(".MockEmbedding")
    with pytest.raises(ValueError, match="embed_model: must be an embedding model of LlamaIndex, but got 'MiniLM'"):
        to_embedder("MiniLM")


class Asymmetric(BaseEmbedding):
    """Questions and documents lie on different axes, so that a mistaken side is seen at once."""

    model_name: str = "asymmetric"

    def _get_query_embedding(self, query):
        return [1.0, 0.0, float("gate" in query), 0.0]

    async def _aget_query_embedding(self, query):
        return self._get_query_embedding(query)

    def _get_text_embedding(self, text):
        return [0.0, 1.0, float("gate" in text), float("gate" not in text)]


def test_questions_are_embedded_as_questions(tmp_path):
    model = Asymmetric()
    embedder = to_embedder(model)
    assert embedder.embed_queries(["gate"]).tolist() == [[1.0, 0.0, 1.0, 0.0]]
    assert embedder.embed(["gate"]).tolist() == [[0.0, 1.0, 1.0, 0.0]]
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=embedder) as kb:
        kb.add([Document("gate", "The tide gate opens."), Document("skua", "The Skua sails.")])
        assert kb.embed("gate")[1].tolist() == [1.0, 0.0, 1.0, 0.0]
    found = VectorSearchRetriever(tmp_path / "kb.db", embed_model=model).retrieve("gate")
    assert (found[0].node_id, found[0].score) == ("gate", pytest.approx(0.5))  # of its question side: 1 / (√2 · √2)
    node = NodeWithScore(node=TextNode(id_="gate", text="The tide gate opens."), score=0.5)
    reranker = RemoteRerankPostprocessor(
        provider="generic", url="http://127.0.0.1:9/", max_retries=0, embed_model=model
    )
    receipt = reranker.postprocess_nodes([node], query_str="gate")[0].metadata["hopweave"]["receipts"][-1]
    assert receipt["details"]["cosine"] == pytest.approx(0.5)


def test_the_model_in_settings_is_honoured(tmp_path, monkeypatch):
    monkeypatch.setattr(Settings, "_embed_model", Asymmetric())
    with HopweaveVectorStore.open(tmp_path / "kb.db").knowledge_base as kb:
        assert kb.settings.model == "asymmetric"
        kb.add([Document("gate", "The tide gate opens.")])
    assert VectorSearchRetriever(tmp_path / "kb.db").retrieve("gate")  # the file names the model, Settings has it
    with KnowledgeBase.open(tmp_path / "other.db") as kb:
        kb.add([Document("gate", "The tide gate opens.")])
    assert VectorSearchRetriever(tmp_path / "other.db").retrieve("gate")  # another model's file is left to its own
    monkeypatch.setattr(Settings, "_embed_model", None)
    with pytest.raises(SourceFailed, match="has no embedder"):
        VectorSearchRetriever(tmp_path / "kb.db").retrieve("gate")


def test_vectors_of_another_model_are_not_written(tmp_path):
    node = TextNode(id_="a", text="The gate", embedding=[0.1] * 256)
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        with pytest.raises(KnowledgeBaseError, match="a model that was not named"):
            KnowledgeBaseWriter(knowledge_base=kb)([node])
        with pytest.raises(KnowledgeBaseError, match="4 numbers"):
            HopweaveVectorStore(knowledge_base=kb).add([TextNode(text="x", embedding=[0.1] * 4)])
        assert kb.count() == 0


def test_a_negative_cosine_does_not_change_what_the_others_mean():
    nodes = [NodeWithScore(node=TextNode(id_=str(score), text="x"), score=score) for score in (0.9, 0.5, 0.1, -0.01)]
    kept = ScoreThresholdPostprocessor(min_score=0.3).postprocess_nodes(nodes)
    assert [(node.node_id, round(node.score, 2)) for node in kept] == [("0.9", 0.9), ("0.5", 0.5)]


class North(MockEmbedding):
    """A model that does not say its name."""


class South(MockEmbedding):
    """Another one."""


def test_models_without_a_name_are_known_by_their_classes(tmp_path):
    assert North(embed_dim=8).model_name == South(embed_dim=8).model_name == "unknown"
    assert to_embedder(North(embed_dim=8)).model_name == f"{__name__}.North"
    assert to_embedder(MockEmbedding(8, model_name="mine")).model_name == "mine"
    with KnowledgeBase.open(tmp_path / "north.db", embedder=to_embedder(North(embed_dim=8))) as kb:
        kb.add([Document("a", "The ferry.")])
        with pytest.raises(ValueError, match=r"South' is not allowed; .* holds vectors of '.*North'"):
            VectorSearchRetriever(kb, embed_model=South(embed_dim=8))
        with pytest.raises(KnowledgeBaseError, match=r"a vector of '.*South', but the file holds those of '.*North'"):
            KnowledgeBaseWriter(knowledge_base=kb, embed_model=South(embed_dim=8))(
                [TextNode(text="x", embedding=[0.5] * 8)]
            )
    with pytest.raises(KnowledgeBaseError, match="North"):
        VectorSearchRetriever(tmp_path / "north.db", embed_model=South(embed_dim=8))
    assert VectorSearchRetriever(tmp_path / "north.db", embed_model=North(embed_dim=8)).retrieve("ferry")
    Settings.embed_model = South(embed_dim=8)
    try:
        with pytest.raises(SourceFailed, match="no embedder"):
            VectorSearchRetriever(tmp_path / "north.db").retrieve("ferry")
        Settings.embed_model = North(embed_dim=8)
        assert VectorSearchRetriever(tmp_path / "north.db").retrieve("ferry")
    finally:
        Settings._embed_model = None
