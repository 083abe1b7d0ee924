import math

import pytest

from hopweave.stages.rerank.providers import PROVIDERS, BadReply, read_reply, request_body


def jina(*entries):
    return {"results": [{"index": index, "relevance_score": score} for index, score in entries]}


def test_bodies():
    assert request_body(PROVIDERS["jina"], "m", "q", ["a", "b"]) == {
        "model": "m",
        "query": "q",
        "documents": ["a", "b"],
        "top_n": 2,
        "return_documents": False,
    }
    assert request_body(PROVIDERS["pinecone"], "m", "q", ["a"])["documents"] == [{"text": "a"}]
    assert "model" not in request_body(PROVIDERS["generic"], None, "q", ["a"])


def test_lone_surrogates_are_replaced():
    body = request_body(PROVIDERS["jina"], "m", "q\ud800", ["a\udfff"])
    assert (body["query"], body["documents"]) == ("q?", ["a?"])


def test_pinecone_reply():
    assert read_reply(PROVIDERS["pinecone"], {"data": [{"index": 0, "score": 0.25}]}, 1).scores == {0: 0.25}


def test_generic_accepts_both_shapes():
    assert read_reply(PROVIDERS["generic"], jina((0, 0.5)), 1).scores == {0: 0.5}
    assert read_reply(PROVIDERS["generic"], {"data": [{"index": 0, "score": 0.5}]}, 1).scores == {0: 0.5}


def test_wrong_entries_are_ignored_and_counted():
    entries = [(0, 0.9), (0, 0.1), (5, 0.8), (-1, 0.8), ("1", 0.8), (1.0, 0.8), (True, 0.8), (None, 0.8), (2, 0.4)]
    reply = read_reply(PROVIDERS["jina"], jina(*entries), 3)
    assert reply.scores == {0: 0.9, 2: 0.4}
    assert reply.ignored == 7


@pytest.mark.parametrize("score", [None, "0.5", True, math.nan, math.inf, 10**400, [0.5]])
def test_a_score_must_be_a_finite_number(score):
    assert read_reply(PROVIDERS["jina"], jina((0, score), (1, 0.5)), 2).scores == {1: 0.5}


@pytest.mark.parametrize("payload", [None, [], "text", {}, {"results": None}, {"results": {}}, {"data": []}])
def test_a_reply_without_results(payload):
    with pytest.raises(BadReply, match="the reply has no list results"):
        read_reply(PROVIDERS["jina"], payload, 1)


@pytest.mark.parametrize("entries", [[], [1, "a", None], [{"index": 3, "relevance_score": 1}]])
def test_a_reply_without_a_usable_entry(entries):
    with pytest.raises(BadReply, match=f"no usable entry among {len(entries)}"):
        read_reply(PROVIDERS["jina"], {"results": entries}, 1)


def test_scales():
    payload = jina((0, 2.0), (1, 0.5), (2, -1.0))
    assert read_reply(PROVIDERS["jina"], payload, 3).scores == {0: 1.0, 1: 0.5, 2: 0.0}  # unit: clamped
    with pytest.raises(BadReply, match=r"the score 2, outside \[0, 1\]; set reply_scale"):
        read_reply(PROVIDERS["generic"], payload, 3)  # what it means depends on the model behind it
    logits = read_reply(PROVIDERS["generic"], payload, 3, "logit").scores
    assert logits[0] == pytest.approx(1 / (1 + math.exp(-2)))
    assert logits[1] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert read_reply(PROVIDERS["generic"], jina((0, 0.5)), 1, "logit").scores[0] == pytest.approx(
        1 / (1 + math.exp(-0.5))
    )


def test_cohere_voyage_and_inference_servers_have_formats_of_their_own():
    question, texts = "q", ["a", "b"]
    body = request_body(PROVIDERS["cohere"], "rerank-v3.5", question, texts)
    assert body == {"model": "rerank-v3.5", "query": "q", "documents": texts, "top_n": 2}
    body = request_body(PROVIDERS["voyage"], "rerank-2.5", question, texts)
    assert body["top_k"] == 2
    assert "top_n" not in body
    voyage = {"data": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}
    assert read_reply(PROVIDERS["voyage"], voyage, 2).scores == {1: 0.9, 0: 0.1}
    body = request_body(PROVIDERS["tei"], None, question, texts)
    assert body == {"query": "q", "texts": texts, "raw_scores": False, "return_text": False, "truncate": True}
    assert read_reply(PROVIDERS["tei"], [{"index": 1, "score": 0.9}], 2).scores == {1: 0.9}
    assert read_reply(PROVIDERS["vllm"], jina((0, 0.5)), 1).scores == {0: 0.5}
