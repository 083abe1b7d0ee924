import shutil

import numpy as np
import pytest

from hopweave.vector.embedders import SentenceTransformerEmbedder
from hopweave.vector.onnx import OnnxEmbedder
from hopweave.vector.prompts import known_prompts, prompt_for
from hopweave.vector.remote_embedder import RemoteEmbedder

BGE = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("BAAI/bge-small-en-v1.5", BGE, ""),
        ("models\\bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/e5-base-v2", "query: ", "passage: "),
        ("intfloat/multilingual-e5-small/", "query: ", "passage: "),
        ("intfloat/multilingual-e5-large-instruct", "", ""),
        ("nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "),
        ("mixedbread-ai/mxbai-embed-large-v1", BGE, ""),
        ("Snowflake/snowflake-arctic-embed-m-v1.5", BGE, ""),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("thenlper/gte-small", "", ""),
    ],
)
def test_families_by_name(model, query, document):
    assert known_prompts(model) == (query, document)


def test_what_is_given_wins_over_the_configuration_and_that_over_the_family():
    stated = {"query": "ask: ", "passage": "text: "}
    assert prompt_for("bge-small-en-v1.5", "mine: ", stated, queries=True) == "mine: "
    assert prompt_for("bge-small-en-v1.5", "", stated, queries=True) == ""
    assert prompt_for("bge-small-en-v1.5", None, stated, queries=True) == "ask: "
    assert prompt_for("bge-small-en-v1.5", None, stated, queries=False) == "text: "
    assert prompt_for("bge-small-en-v1.5", None, {"query": "", "document": ""}, queries=True) == BGE


def test_a_model_of_the_family_embeds_with_its_prompts(onnx_minilm, tmp_path):
    folder = tmp_path / "multilingual-e5-small"
    shutil.copytree(onnx_minilm, folder)
    plain = OnnxEmbedder(model=str(folder), query_prompt="", document_prompt="")
    named = OnnxEmbedder(model=str(folder))
    assert named.embed_queries(["ferry"]) == pytest.approx(plain.embed(["query: ferry"]), abs=1e-5)
    assert named.embed(["ferry"]) == pytest.approx(plain.embed(["passage: ferry"]), abs=1e-5)
    assert named.model_name != plain.model_name


@pytest.mark.slow
def test_sentence_transformers_too(minilm, tmp_path):
    pytest.importorskip("sentence_transformers")
    folder = tmp_path / "bge-small-en-v1.5"
    shutil.copytree(minilm, folder)
    plain = SentenceTransformerEmbedder(model=str(folder), query_prompt="", document_prompt="")
    named = SentenceTransformerEmbedder(model=str(folder))
    assert named.embed_queries(["ferry"]) == pytest.approx(plain.embed([BGE + "ferry"]), abs=1e-5)
    assert named.embed(["ferry"]) == pytest.approx(plain.embed(["ferry"]), abs=1e-5)
    assert not np.allclose(named.embed_queries(["ferry"]), named.embed(["ferry"]))


def test_and_what_a_service_is_sent(embedding_server):
    embedding_server.key = None
    model = RemoteEmbedder(url=embedding_server.url(), model="intfloat/e5-base-v2")
    model.embed_queries(["ferry"])
    model.embed(["ferry"])
    assert [body["input"] for _, _, body in embedding_server.requests] == [["query: ferry"], ["passage: ferry"]]
