import json
import logging
import time

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

from hopweave import Document, KnowledgeBase
from hopweave.errors import EmbeddingError, explain
from hopweave.vector.embedders import Cascade, StaticEmbedder
from hopweave.vector.remote_embedder import SERVICES, RemoteEmbedder, read_vectors

KEY = "sk-loopback-9b1e55d0"


@pytest.fixture
def embedder(embedding_server):
    def make(provider="openai", **parameters):
        return RemoteEmbedder(provider=provider, url=embedding_server.url(provider), **{"api_key": KEY, **parameters})

    return make


@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_one_row_per_text_in_the_order_of_the_texts(embedder, provider):
    rows = embedder(provider).embed(["a ferry", "the gate", "ferry, ferry"])
    assert rows.dtype == np.float32
    assert rows == pytest.approx(np.array([[1, 0, 0.7], [0, 1, 0.8], [2, 0, 1.2]]))


def test_what_openai_is_sent(embedder, embedding_server):
    embedder(model="bge-m3", dimensions=2, query_prompt="query: ", document_prompt="passage: ").embed_queries(["ferry"])
    path, headers, body = embedding_server.requests[0]
    assert path == "/v1/embeddings"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert body == {"model": "bge-m3", "input": ["query: ferry"], "encoding_format": "float", "dimensions": 2}


def test_what_gemini_is_sent(embedder, embedding_server):
    model = embedder("gemini", dimensions=3)
    model.embed(["ferry"])
    question = model.embed_queries(["ferry"])
    path, headers, body = embedding_server.requests[0]
    assert path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert headers["x-goog-api-key"] == KEY
    assert body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "taskType": "RETRIEVAL_DOCUMENT",
                "outputDimensionality": 3,
                "content": {"parts": [{"text": "ferry"}]},
            }
        ]
    }
    assert question[0].tolist() == pytest.approx([1, 0, 1.5])


def test_batches_prompts_and_blank_texts(embedder, embedding_server):
    rows = embedder(batch_size=2).embed(["ferry", " ", "gate", "ferry"])
    assert [body["input"] for _, _, body in embedding_server.requests] == [["ferry", "gate"], ["ferry"]]
    assert rows == pytest.approx(np.array([[1, 0, 0.5], [0, 0, 0], [0, 1, 0.4], [1, 0, 0.5]]))
    assert embedder().embed([]).shape == (0, 0)
    assert embedder().embed([""]).shape == (1, 3)


@pytest.mark.parametrize("first", [429, 500, 503, "drop"])
def test_tries_again_after_what_may_pass(embedder, embedding_server, first):
    embedding_server.script = [first, first]
    assert embedder().embed(["ferry"]).shape == (1, 3)
    assert len(embedding_server.requests) == 3


def test_waits_as_long_as_the_service_asks(embedder, embedding_server):
    embedding_server.script = [(429, {"Retry-After": "1"})]
    begun = time.monotonic()
    embedder().embed(["ferry"])
    assert time.monotonic() - begun >= 1


@pytest.mark.parametrize(
    ("script", "parameters", "reason"),
    [
        ([400], {}, r"HTTP 400 \(1 attempt\)"),
        ([500] * 3, {}, r"HTTP 500 \(3 attempts\)"),
        ([(429, {"Retry-After": "900"})], {}, "HTTP 429, and no time left to try again"),
        (["hang"], {"deadline_seconds": 0.3}, "no answer within 0.3 s"),
        ([lambda reply: {**reply, "data": reply["data"][:1]}], {}, "one vector of finite numbers for each of 2 texts"),
        ([lambda _: {"data": 7}], {}, "one vector of finite numbers for each of 2 texts"),
        ([lambda _: ["x"]], {}, "one vector of finite numbers for each of 2 texts"),
        ([], {"dimensions": 5}, "vectors of 3 numbers, not of 5"),
        ([], {"api_key": "wrong"}, "HTTP 401"),
    ],
)
def test_fails_with_a_reason_and_never_shows_the_key(embedder, embedding_server, caplog, script, parameters, reason):
    embedding_server.script = list(script)
    caplog.set_level(logging.DEBUG)
    with pytest.raises(EmbeddingError, match=reason) as failure:
        embedder(**parameters).embed(["ferry", "gate"])
    assert KEY not in f"{failure.value!r} {failure.getrepr(style='long')}"
    assert KEY not in caplog.text


def test_uneven_or_infinite_vectors_are_refused():
    service = SERVICES["gemini"]
    with pytest.raises(EmbeddingError, match="2 vectors of 1 and 2 numbers for 2 texts"):
        read_vectors(service, {"embeddings": [{"values": [1]}, {"values": [1, 2]}]}, 2, None)
    for wrong in (float("nan"), True, "1", None):
        with pytest.raises(EmbeddingError, match="finite numbers"):
            read_vectors(service, {"embeddings": [{"values": [wrong]}]}, 1, None)


def test_the_key_is_never_written_or_shown(monkeypatch):
    model = RemoteEmbedder(api_key=KEY)
    assert (
        KEY not in f"{model!r} {model} {json.dumps(model.model_dump(mode='json'))} {yaml.safe_dump(model.model_dump())}"
    )
    for wrong in (
        {"api_key": KEY, "batch_size": 0},
        {"api_key": [KEY], "model": ""},
        {"api_key": KEY, "url": "ftp://x"},
    ):
        with pytest.raises(ValidationError) as failure:
            RemoteEmbedder(**wrong)
        assert KEY not in f"{failure.value} {explain(failure.value)}"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EmbeddingError, match="the environment variable OPENAI_API_KEY is not set"):
        RemoteEmbedder().embed(["ferry"])
    with pytest.raises(ValidationError, match="must not contain a user name or password"):
        RemoteEmbedder(url="https://me:secret@example.com/v1/embeddings")


def test_a_key_from_the_environment_and_none_for_a_server_of_ones_own(embedding_server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    assert RemoteEmbedder(url=embedding_server.url(), api_key_env="MY_KEY").embed(["ferry"]).shape == (1, 3)
    embedding_server.key = None
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert RemoteEmbedder(url=embedding_server.url()).embed(["ferry"]).shape == (1, 3)
    assert "Authorization" not in embedding_server.requests[-1][1]  # OpenAI's key is for OpenAI


def test_names_tell_models_sizes_and_document_prompts_apart():
    names = [
        RemoteEmbedder().model_name,
        RemoteEmbedder(model="bge-m3").model_name,
        RemoteEmbedder(dimensions=256).model_name,
        RemoteEmbedder(document_prompt="passage: ").model_name,
    ]
    assert names[0] == RemoteEmbedder(query_prompt="query: ", url="http://127.0.0.1/v1/embeddings").model_name
    assert len(set(names)) == 4


def test_a_file_does_not_decide_where_texts_go(embedder, embedding_server, tmp_path):
    path = tmp_path / "kb.db"
    embedding_server.key = None
    own = RemoteEmbedder(url=embedding_server.url())
    with KnowledgeBase.open(path, embedder=own) as kb:
        kb.add([Document("a", "a ferry"), Document("b", "the gate")])
        assert [hit.id for hit in kb.search("gate").hits][:1] == ["b"]
    asked = len(embedding_server.requests)
    with KnowledgeBase.open(path) as kb, pytest.raises(EmbeddingError, match="never decides where texts and keys go"):
        kb.embed("ferry")
    assert len(embedding_server.requests) == asked
    with KnowledgeBase.open(path, embedder=own) as kb:
        assert kb.embed("ferry")[1].tolist() == [1, 0, 0.5]


def test_in_a_cascade_a_local_model_answers_when_the_service_fails(embedder, embedding_server):
    cascade = Cascade(embedders=(embedder(max_retries=0), StaticEmbedder()))
    assert cascade.embed_named(["ferry"])[0] == "text-embedding-3-small"
    embedding_server.script = [500]
    assert cascade.embed_named(["ferry"])[0] == StaticEmbedder().model_name
