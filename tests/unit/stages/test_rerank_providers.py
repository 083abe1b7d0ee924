import math

import pytest

from hopweave.stages.rerank_providers import PROVIDERS, BadReply, read_reply, request_body


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
    logits = read_reply(PROVIDERS["generic"], payload, 3).scores  # auto: 2 and -1 lie outside [0, 1]
    assert logits[0] == pytest.approx(1 / (1 + math.exp(-2)))
    assert logits[1] == pytest.approx(1 / (1 + math.exp(-0.5)))
    assert read_reply(PROVIDERS["generic"], jina((0, 0.5)), 1, "logit").scores[0] == pytest.approx(
        1 / (1 + math.exp(-0.5))
    )
